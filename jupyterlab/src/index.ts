// Jupyter says why a kernel died, where it died: JupyterLab 4 and Notebook 7.
//
//   event of the server ──> card below the cell ──> sentence in Jupyter's own dialog, which follows
//                       ──> side panel "Kernel deaths"; status bar: memory against its limit

import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Dialog, MainAreaWidget, Notification } from '@jupyterlab/apputils';
import type { CodeCell } from '@jupyterlab/cells';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, TranslationBundle, nullTranslator } from '@jupyterlab/translation';
import { LabIcon } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';

import { DeathCard, sentenceNode } from './card';
import { Deaths, EVENT, IDeath, IWholeDeath } from './deaths';
import { MemoryItem } from './memory';
import { DeathList } from './panel';

const ICON = new LabIcon({
  name: 'outlive:kernel-deaths',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16"><path class="jp-icon3" ' +
    'fill="#616161" d="M8 1 1 14h14L8 1zm-.8 4.5h1.6v4.3H7.2V5.5zm0 5.3h1.6v1.5H7.2z"/></svg>'
});

const TRIES = 20;
const PAUSE_MS = 50;

/** Shows deaths in notebooks, each once. */
class Reporter {
  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly tracker: INotebookTracker,
    private readonly deaths: Deaths,
    private readonly trans: TranslationBundle
  ) {}

  /** A death of which the server tells. */
  show(death: IDeath): void {
    if (this.shown.has(death.name)) {
      return;
    }
    this.shown.add(death.name);
    this.newest.set(death.kernel, death);
    const panel = this.panelOf(death.kernel);
    const cell = panel?.content.widgets.find(one => one.model.id === death.cell);
    if (panel && cell?.model.type === 'code') {
      const showPage = (whole: IWholeDeath) => this.showPage(whole);
      const { deaths, trans } = this;
      new DeathCard({ death, deaths, panel, cell: cell as CodeCell, trans, showPage }).showBelow();
    } else if (panel) {
      Notification.error(death.sentence, { autoClose: false });
    }
  }

  /** Add the sentence to Jupyter's own dialog, which comes later and says that the kernel died. */
  async addToDialog(dialog: Dialog<unknown>): Promise<void> {
    const header = dialog.node.querySelector('.jp-Dialog-header');
    const body = dialog.node.querySelector('.jp-Dialog-body');
    for (let tries = 0; tries < TRIES && !header?.textContent; tries++) {
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS)); // its title is drawn a little later
    }
    const title = header?.textContent ?? '';
    if (!body || title.trim() !== this.trans.__('Kernel Restarting')) {
      return;
    }
    const panel = this.panels().find(one => {
      const path = one.sessionContext.session?.path;
      return path !== undefined && (body.textContent ?? '').includes(path);
    });
    const kernel = panel?.sessionContext.session?.kernel?.id;
    const death = kernel && (this.newest.get(kernel) ?? (await this.find(kernel)));
    if (death && !dialog.isDisposed) {
      body.append(sentenceNode(death));
    }
  }

  /** The whole page of a death, in a tab. */
  showPage(whole: IWholeDeath): void {
    const id = `outlive-death-${whole.name}`;
    const content = new Widget();
    content.addClass('outlive-page');
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts allow-downloads');
    frame.title = whole.sentence;
    frame.srcdoc = whole.page;
    content.node.append(frame);
    const page = new MainAreaWidget({ content });
    page.id = id;
    page.title.label = this.trans.__('Kernel death');
    page.title.icon = ICON;
    page.title.closable = true;
    this.app.shell.add(page, 'main');
    this.app.shell.activateById(id);
  }

  private async find(kernel: string): Promise<IDeath | undefined> {
    const death = (await this.deaths.list()).find(one => one.kernel === kernel);
    if (death) {
      this.show(death);
    }
    return death;
  }

  private panelOf(kernel: string): NotebookPanel | undefined {
    return this.panels().find(panel => panel.sessionContext.session?.kernel?.id === kernel);
  }

  private panels(): NotebookPanel[] {
    return this.tracker.filter(() => true);
  }

  private readonly shown = new Set<string>();
  private readonly newest = new Map<string, IDeath>();
}

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'outlive-jupyterlab:plugin',
  description: 'Says why a kernel died, where it died.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ITranslator, IStatusBar],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    translator: ITranslator | null,
    statusBar: IStatusBar | null
  ) => {
    const trans = (translator ?? nullTranslator).load('outlive');
    const deaths = new Deaths(app.serviceManager.serverSettings);
    const reporter = new Reporter(app, tracker, deaths, (translator ?? nullTranslator).load('jupyterlab'));

    const list = new DeathList(deaths, trans, async death => reporter.showPage(await deaths.whole(death.name)));
    list.id = 'outlive-kernel-deaths';
    list.title.icon = ICON;
    list.title.caption = trans.__('Kernel deaths');
    app.shell.add(list, 'right', { rank: 1200, type: 'Kernel deaths' });

    app.serviceManager.events.stream.connect((_, emission) => {
      if (emission.schema_id === EVENT) {
        reporter.show(emission.death as unknown as IDeath);
        void list.refresh();
      }
    });
    Dialog.tracker.widgetAdded.connect((_, dialog) => {
      void reporter.addToDialog(dialog).catch(console.warn);
    });
    statusBar?.registerStatusItem('outlive:memory', {
      item: new MemoryItem(deaths, tracker, trans),
      align: 'right',
      rank: 900
    });
  }
};

export default plugin;
