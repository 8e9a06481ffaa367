/**
 * How long the owner has left a question unanswered. Its silence alone proves nothing: timers of a hidden page come up to a
 * minute late, and nobody was asked meanwhile.
 */
import type { Clock } from '../clock.js';

export class Silence {
  readonly #clock: Clock;
  /** Time of the first question without an answer. */
  #asked: number | undefined;
  #expected = Number.POSITIVE_INFINITY;
  #wasLate = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Nothing has been asked yet. */
  begin(): void {
    this.#asked = undefined;
    this.#expected = Number.POSITIVE_INFINITY;
    this.#wasLate = false;
  }

  /** A sign of life. */
  end(): void {
    this.#asked = undefined;
  }

  /** To be called at each question, which are `everyMs` apart. Gives the time since the first that nobody has answered. */
  ask(everyMs: number): number {
    const now = this.#clock.now();
    // Answers may be queued behind a timer that is late: who was asleep asks again. Late twice, it was awake between.
    const isLate = now - this.#expected > everyMs;
    if (isLate && !this.#wasLate) this.#asked = undefined;
    this.#wasLate = isLate;
    this.#expected = now + everyMs;
    this.#asked ??= now;
    return now - this.#asked;
  }
}
