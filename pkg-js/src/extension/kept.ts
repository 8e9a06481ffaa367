/**
 * Calls that a host has begun, by the name that their client gave them: one that comes again over another Port is not carried
 * out again, but gets the same answer.
 */
import type { Clock } from '../clock.js';
import type { WireError } from '../engine/contract.js';
import { toWire } from '../errors.js';

/** How long an answer is kept for a client that may ask again, and a call goes on for one that has gone. */
export const KEPT_MS = 10_000;

export type Answer = { kind: 'result'; value: unknown } | { kind: 'error'; error: WireError };
type Say = (message: Answer | { kind: 'text'; text: string }) => void;
export type Run = (signal: AbortSignal, onText: (text: string) => void) => Promise<unknown>;

export class KeptCall {
  readonly #clock: Clock;
  readonly #texts: string[] = [];
  readonly #abort = new AbortController();
  readonly #forget: () => void;
  #say: Say | undefined;
  #answer: Answer | undefined;
  #stop: (() => void) | undefined;

  constructor(clock: Clock, run: Run, forget: () => void) {
    this.#clock = clock;
    this.#forget = forget;
    const onText = (text: string): void => {
      this.#texts.push(text);
      this.#say?.({ kind: 'text', text });
    };
    run(this.#abort.signal, onText).then(
      (value) => this.#settle({ kind: 'result', value }),
      (error: unknown) => this.#settle({ kind: 'error', error: toWire(error, 'INTERNAL') }),
    );
  }

  get settled(): boolean {
    return this.#answer !== undefined;
  }

  /** Answers go to `say` from now on, texts from the `heard`th on. */
  attach(say: Say, heard: number): void {
    if (!this.#answer) this.#stop?.();
    this.#say = say;
    for (const text of this.#texts.slice(heard)) say({ kind: 'text', text });
    if (this.#answer) say(this.#answer);
  }

  /** Nobody listens: it is given up when nobody comes back. */
  detach(): void {
    this.#say = undefined;
    if (!this.#answer) this.#stop = this.#clock.after(KEPT_MS, () => this.cancel(), 'background');
  }

  cancel(): void {
    this.#abort.abort();
  }

  #settle(answer: Answer): void {
    this.#answer = answer;
    this.#stop?.();
    this.#stop = this.#clock.after(KEPT_MS, this.#forget, 'background');
    this.#say?.(answer);
  }
}
