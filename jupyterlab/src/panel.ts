// The side panel: earlier deaths, the newest first.

import { TranslationBundle } from '@jupyterlab/translation';
import { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { Deaths, IDeath } from './deaths';

export class DeathList extends Widget {
  constructor(
    private readonly deaths: Deaths,
    private readonly trans: TranslationBundle,
    private readonly open: (death: IDeath) => Promise<void>
  ) {
    super();
    this.addClass('outlive-list');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Kernel deaths'));
  }

  async refresh(): Promise<void> {
    const found = await this.deaths.list();
    const title = document.createElement('h2');
    title.textContent = this.trans.__('Kernel deaths');
    const list = document.createElement('ul');
    list.append(...found.map(death => this.entry(death)));
    const none = document.createElement('p');
    none.textContent = this.trans.__('No kernel has died.');
    this.node.replaceChildren(title, found.length ? list : none);
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void this.refresh();
  }

  private entry(death: IDeath): HTMLElement {
    const entry = document.createElement('li');
    const when = document.createElement('time');
    const moment = new Date(1000 * death.ended);
    when.dateTime = moment.toISOString();
    when.textContent = moment.toLocaleString();
    const where = document.createElement('div');
    where.textContent = death.notebook.split('/').pop() ?? '';
    const sentence = document.createElement('div');
    sentence.textContent = death.sentence;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'jp-mod-styled jp-mod-reject';
    button.textContent = this.trans.__('Details');
    button.setAttribute('aria-label', this.trans.__('Details: %1', death.sentence));
    button.addEventListener('click', () => void this.open(death));
    entry.append(when, where, sentence, button);
    return entry;
  }
}
