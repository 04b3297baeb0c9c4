// The status bar's item: the memory of the notebook's kernel against what it may have.

import { INotebookTracker } from '@jupyterlab/notebook';
import { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { Deaths, IGrowing, IMemory } from './deaths';

const EVERY_MS = 3000;
const NEARLY_FULL = 0.8;
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export class MemoryItem extends Widget {
  constructor(
    private readonly deaths: Deaths,
    private readonly tracker: INotebookTracker,
    private readonly trans: TranslationBundle
  ) {
    super();
    this.addClass('outlive-memory');
    this.node.setAttribute('role', 'status');
    this.node.setAttribute('aria-live', 'off');
    tracker.currentChanged.connect(() => void this.look());
    this.timer = window.setInterval(() => void this.look(), EVERY_MS);
  }

  dispose(): void {
    window.clearInterval(this.timer);
    super.dispose();
  }

  private async look(): Promise<void> {
    const kernel = this.tracker.currentWidget?.sessionContext.session?.kernel?.id;
    if (document.hidden || this.isDisposed || this.asking) {
      return;
    }
    this.asking = true;
    try {
      this.draw(kernel ? await this.deaths.memory(kernel) : null);
    } catch {
      this.draw(null); // a kernel that is not watched, or that is gone
    } finally {
      this.asking = false;
    }
  }

  private draw(memory: IMemory | null): void {
    const share = memory?.limit_bytes ? memory.bytes / memory.limit_bytes : 0;
    const full = share >= NEARLY_FULL;
    this.toggleClass('outlive-nearly-full', full);
    // A screen reader is told once it matters, and not every three seconds.
    this.node.setAttribute('aria-live', full ? 'polite' : 'off');
    if (memory === null || !memory.bytes) {
      this.node.textContent = '';
      return;
    }
    const used = formatBytes(memory.bytes);
    const limit = memory.limit_bytes ? formatBytes(memory.limit_bytes) : '';
    const percent = String(Math.round(100 * share));
    this.node.textContent = limit
      ? this.trans.__('Kernel: %1 of %2 (%3 %)', used, limit, percent)
      : this.trans.__('Kernel: %1', used);
    this.node.title = full
      ? this.trans.__('The kernel will be killed when its memory is used up.')
      : this.trans.__('Memory of the kernel and its processes, and what they may have');
    this.nameGrowing(memory.growing, full);
  }

  /** The variable that grew most: in the tooltip, and in the text once memory is scarce. */
  private nameGrowing(growing: IGrowing | null, full: boolean): void {
    if (growing === null) {
      return;
    }
    const grown = formatBytes(growing.grown_bytes);
    this.node.title += `\n${this.trans.__(
      'Fastest-growing variable: %1, %2 more in cell [%3], now %4',
      growing.name,
      grown,
      String(growing.number),
      formatBytes(growing.bytes)
    )}`;
    if (full) {
      this.node.textContent += this.trans.__('; %1 grew by %2', growing.name, grown);
    }
  }

  private asking = false;
  private readonly timer: number;
}

export function formatBytes(bytes: number): string {
  let unit = 0;
  while (bytes >= 1024 && unit < UNITS.length - 1) {
    bytes /= 1024;
    unit += 1;
  }
  return `${bytes >= 100 || unit === 0 ? bytes.toFixed(0) : bytes.toPrecision(3)} ${UNITS[unit]}`;
}
