// What the server knows of deaths (src/outlive/jupyter/death_handlers.py).

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

export const EVENT = 'https://outlive.invalid/jupyter/kernel_death';

/** A death in a few words. */
export interface IDeath {
  name: string;
  kernel: string;
  cell: string;
  message: string;
  number: number | null;
  notebook: string;
  ended: number;
  code: string;
  hung: boolean;
  sentence: string;
}

/** A death in full: a card as HTML, which the server has escaped, the same as text, and a whole page. */
export interface IWholeDeath extends IDeath {
  html: string;
  text: string;
  page: string;
}

/** What a kernel holds, and what it may have. */
export interface IMemory {
  bytes: number;
  limit_bytes: number | null;
  growing: IGrowing | null;
}

/** The variable that grew most, in the cell of this number. */
export interface IGrowing {
  name: string;
  number: number;
  bytes: number;
  grown_bytes: number;
}

/** The questions that a browser has for the server. */
export class Deaths {
  constructor(private readonly settings: ServerConnection.ISettings) {}

  async list(): Promise<IDeath[]> {
    return ((await this.ask('deaths')) as { deaths: IDeath[] }).deaths;
  }

  async whole(name: string): Promise<IWholeDeath> {
    return (await this.ask(`deaths/${encodeURIComponent(name)}`)) as IWholeDeath;
  }

  async memory(kernel: string): Promise<IMemory> {
    return (await this.ask(`kernels/${encodeURIComponent(kernel)}/memory`)) as IMemory;
  }

  async protect(kernel: string): Promise<void> {
    await this.ask(`kernels/${encodeURIComponent(kernel)}/protect`, { method: 'POST' });
  }

  private async ask(path: string, init: RequestInit = {}): Promise<unknown> {
    const url = URLExt.join(this.settings.baseUrl, 'outlive', path);
    const answer = await ServerConnection.makeRequest(url, init, this.settings);
    if (!answer.ok) {
      throw new ServerConnection.ResponseError(answer);
    }
    return answer.status === 204 ? null : answer.json();
  }
}
