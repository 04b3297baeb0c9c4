// The card below the cell that died: the sentence, what can be done, and the evidence, folded.

import { Clipboard } from '@jupyterlab/apputils';
import type { CodeCell } from '@jupyterlab/cells';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { TranslationBundle } from '@jupyterlab/translation';
import { PanelLayout, Widget } from '@lumino/widgets';

import { Deaths, IDeath, IWholeDeath } from './deaths';

export interface ICardOptions {
  death: IDeath;
  deaths: Deaths;
  panel: NotebookPanel;
  cell: CodeCell;
  trans: TranslationBundle;
  showPage: (death: IWholeDeath) => void;
}

export class DeathCard extends Widget {
  constructor(private readonly options: ICardOptions) {
    super();
    const { death, trans } = options;
    this.addClass('outlive-death');
    this.toggleClass('outlive-hung', death.hung);
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Why the kernel died'));
    // Enter and the space bar belong to the buttons, not to the notebook's shortcuts.
    this.node.setAttribute('data-lm-suppress-shortcuts', 'true');
    this.node.append(sentenceNode(death), this.buttons());
    void this.addEvidence();
  }

  /** Show it below its cell, in the place of an earlier one. */
  showBelow(): void {
    const layout = this.options.cell.layout as PanelLayout;
    for (const widget of layout.widgets.filter(one => one instanceof DeathCard)) {
      widget.dispose();
    }
    layout.addWidget(this);
  }

  private buttons(): HTMLElement {
    const { trans } = this.options;
    const row = document.createElement('div');
    row.className = 'outlive-buttons';
    row.append(
      this.button(trans.__('Restart protected'), () => this.restartProtected(), true),
      this.button(trans.__('Run cells above'), () => this.runAbove()),
      this.button(trans.__('Details'), async () => this.options.showPage(await this.whole())),
      this.button(trans.__('Copy for a bug report'), () => this.copy()),
      this.button(trans.__('Keep in notebook'), () => this.keep()),
      this.button(trans.__('Dismiss'), async () => this.leave())
    );
    return row;
  }

  private button(label: string, act: () => Promise<void>, first = false): HTMLButtonElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = `jp-mod-styled ${first ? 'jp-mod-accept' : 'jp-mod-reject'}`;
    button.textContent = label;
    button.addEventListener('click', () => {
      button.disabled = true;
      act()
        .catch(error => this.complain(error))
        .finally(() => (button.disabled = false));
    });
    return button;
  }

  private async restartProtected(): Promise<void> {
    const { death, deaths, panel } = this.options;
    await deaths.protect(death.kernel);
    await panel.sessionContext.session?.kernel?.restart();
    this.say(this.options.trans.__('The kernel was restarted, and is protected.'));
  }

  private async runAbove(): Promise<void> {
    const { panel, cell } = this.options;
    panel.content.activeCellIndex = panel.content.widgets.indexOf(cell);
    await NotebookActions.runAllAbove(panel.content, panel.sessionContext);
  }

  private async copy(): Promise<void> {
    const { death, trans } = this.options;
    Clipboard.copyToSystem(`${death.sentence}\n\n${(await this.whole()).text}\n`);
    this.say(trans.__('Copied.'));
  }

  /** Only now does it become a part of the notebook, and is saved with it. */
  private async keep(): Promise<void> {
    const { html, text } = await this.whole();
    this.options.cell.model.outputs.add({
      output_type: 'display_data',
      data: { 'text/html': html, 'text/plain': text },
      metadata: {}
    });
    this.leave();
  }

  /** Go, and give the keyboard back to the notebook. */
  private leave(): void {
    this.dispose();
    this.options.panel.content.activate();
  }

  private async addEvidence(): Promise<void> {
    const { trans } = this.options;
    try {
      const { html } = await this.whole();
      const folded = document.createElement('details');
      const summary = document.createElement('summary');
      summary.textContent = trans.__('Cause, evidence and remedies');
      const card = document.createElement('div');
      card.innerHTML = html; // escaped by the server; scripts that are set like this do not run
      folded.append(summary, card);
      this.node.append(folded);
    } catch (error) {
      this.complain(error);
    }
  }

  private whole(): Promise<IWholeDeath> {
    this.found ??= this.options.deaths.whole(this.options.death.name);
    return this.found;
  }

  private complain(error: unknown): void {
    this.say(this.options.trans.__('That did not work: %1', String(error)));
  }

  private say(words: string): void {
    if (!this.isDisposed) {
      this.status.textContent = words;
      this.node.append(this.status);
    }
  }

  private found: Promise<IWholeDeath> | undefined;
  private readonly status = statusNode();
}

/** The sentence; screen readers say it at once. */
export function sentenceNode(death: IDeath): HTMLElement {
  const sentence = document.createElement('p');
  sentence.className = 'outlive-sentence';
  sentence.setAttribute('role', 'alert');
  sentence.textContent = death.sentence;
  return sentence;
}

function statusNode(): HTMLElement {
  const status = document.createElement('p');
  status.setAttribute('role', 'status');
  return status;
}
