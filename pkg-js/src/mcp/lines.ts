/** Cuts a stream of bytes into lines, and drops a line that is too long rather than keep it. */
import { StringDecoder } from 'node:string_decoder';

export interface LineOptions {
  maxChars: number;
  onLine(line: string): void;
  onTooLong(): void;
}

export class Lines {
  readonly #options: LineOptions;
  readonly #decoder = new StringDecoder('utf8');
  #held = '';
  #dropping = false;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  push(bytes: Uint8Array): void {
    const pieces = this.#decoder.write(bytes as Buffer).split('\n');
    for (const [at, piece] of pieces.entries()) {
      if (!this.#dropping) this.#held += piece;
      if (this.#held.length > this.#options.maxChars) {
        this.#dropping = true;
        this.#held = '';
      }
      if (at < pieces.length - 1) this.#end();
    }
  }

  #end(): void {
    const line = this.#held.trim();
    this.#held = '';
    if (this.#dropping) this.#options.onTooLong();
    else if (line !== '') this.#options.onLine(line);
    this.#dropping = false;
  }
}
