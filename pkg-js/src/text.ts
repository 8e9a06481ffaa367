/**
 * Strings at the boundary. JavaScript strings may hold half of a surrogate pair; UTF-8, which the core speaks, cannot.
 */

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** The text with each lone surrogate replaced by U+FFFD. */
export function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATE, '\uFFFD');
}

/** Repairs a stream of pieces: a pair that was cut between two pieces is joined, a half that stays alone is replaced. */
export class SurrogateJoiner {
  #held = '';

  push(piece: string): string {
    const text = this.#held + piece;
    const last = text.charCodeAt(text.length - 1);
    const cut = last >= 0xd800 && last <= 0xdbff;
    this.#held = cut ? text.slice(-1) : '';
    return wellFormed(cut ? text.slice(0, -1) : text);
  }

  /** What is still held when the stream ends. */
  end(): string {
    const rest = wellFormed(this.#held);
    this.#held = '';
    return rest;
  }
}

/** A value as an error message shows it: short, and on one line. */
export function show(value: unknown): string {
  let text: string;
  try {
    text = typeof value === 'string' || (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value))
      ? (JSON.stringify(value) ?? String(value))
      : String(value);
  } catch {
    text = Object.prototype.toString.call(value);
  }
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
