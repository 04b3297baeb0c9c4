// Jupyter says why a kernel died, where it died: JupyterLab 4 and Notebook 7.
//
//   event of the server ──> card below the cell ──> sentence in Jupyter's own dialog, which follows
//                       ──> side panel "Kernel deaths"; status bar: memory against its limit

import { ILabShell, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Dialog, MainAreaWidget, Notification, showDialog } from '@jupyterlab/apputils';
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
    private readonly labShell: ILabShell | null,
    private readonly tracker: INotebookTracker,
    private readonly deaths: Deaths,
    private readonly trans: TranslationBundle,
    private readonly jupyterTrans: TranslationBundle
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
    if (!body || title.trim() !== this.jupyterTrans.__('Kernel Restarting')) {
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

  /** The whole page of a death: in a tab, or in a dialog where there are no tabs (Notebook 7). */
  showPage(whole: IWholeDeath): void {
    const id = `outlive-death-${whole.name}`;
    const title = this.trans.__('Kernel death');
    if (!this.labShell) {
      const buttons = [Dialog.okButton({ label: this.trans.__('Close') })];
      void showDialog({ title, body: pageWidget(whole), buttons });
      return;
    }
    if (!Array.from(this.labShell.widgets('main')).some(one => one.id === id)) {
      const page = new MainAreaWidget({ content: pageWidget(whole) });
      page.id = id;
      page.title.label = title;
      page.title.icon = ICON;
      page.title.closable = true;
      this.labShell.add(page, 'main');
    }
    this.labShell.activateById(id);
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

/** The page in a frame of its own, which may copy and save, and knows nothing of Jupyter. */
function pageWidget(whole: IWholeDeath): Widget {
  const content = new Widget();
  content.addClass('outlive-page');
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts allow-downloads');
  frame.allow = 'clipboard-write';
  frame.title = whole.sentence;
  const theme = document.body.dataset.jpThemeLight === 'false' ? 'dark' : 'light';
  frame.srcdoc = whole.page.replace('<html ', `<html data-theme="${theme}" `);
  content.node.append(frame);
  return content;
}

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'outlive-jupyterlab:plugin',
  description: 'Says why a kernel died, where it died.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ITranslator, IStatusBar, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    translator: ITranslator | null,
    statusBar: IStatusBar | null,
    labShell: ILabShell | null
  ) => {
    const trans = (translator ?? nullTranslator).load('outlive');
    const deaths = new Deaths(app.serviceManager.serverSettings);
    const jupyterTrans = (translator ?? nullTranslator).load('jupyterlab');
    const reporter = new Reporter(labShell, tracker, deaths, trans, jupyterTrans);

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
