/** The memory of a server: opened when it is first needed, kept, and opened anew after a failure. */
import type { MemoryOS } from '../memory-os.js';

export class Opening {
  readonly #open: () => Promise<MemoryOS>;
  #memory: Promise<MemoryOS> | undefined;

  constructor(open: () => Promise<MemoryOS>) {
    this.#open = open;
  }

  get(): Promise<MemoryOS> {
    this.#memory ??= this.#begin();
    return this.#memory;
  }

  /** Opens nothing that was not opened. */
  async close(): Promise<void> {
    const memory = await this.#memory?.catch(() => undefined);
    await memory?.close();
  }

  #begin(): Promise<MemoryOS> {
    const opening = this.#open();
    const forget = (): void => {
      if (this.#memory === opening) this.#memory = undefined;
    };
    opening.then((memory) => memory.on('closed', forget), forget);
    return opening;
  }
}

/** Resolves when the built-in embedder is there, or will not be: a question asked before would be answered by keyword alone. */
export async function embedderSettled(memory: MemoryOS): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = memory.on('embedder', ({ status }) => {
      if (status === 'loading') return;
      stop();
      resolve();
    });
    memory.on('closed', () => resolve());
    void memory.stats().then(({ embedder }) => embedder.ready && resolve(), () => resolve());
  });
}
