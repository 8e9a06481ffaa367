/** Tokens as they come from a generating model, turned into pieces of text: the part of a Transformers.js streamer that is used. */

export interface TokenDecoder {
  decode(tokens: bigint[], options: { skip_special_tokens: boolean }): string;
}

export class TextPieces {
  text = '';
  inputTokens = 0;
  outputTokens = 0;
  lastToken = '';
  readonly #decoder: TokenDecoder;
  readonly #onPiece: (piece: string) => void;
  /** The tokens since the last safe place, and their text as far as it is out. */
  #tokens: bigint[] = [];
  #out = '';
  #prompted = false;

  constructor(decoder: TokenDecoder, onPiece: (piece: string) => void) {
    this.#decoder = decoder;
    this.#onPiece = onPiece;
  }

  /** First called with the prompt, then with each new token. */
  put(batch: (bigint | number)[][]): void {
    const tokens = (batch[0] ?? []).map(BigInt);
    if (!this.#prompted) {
      this.#prompted = true;
      this.inputTokens = tokens.length;
      return;
    }
    this.outputTokens += tokens.length;
    this.lastToken = String(tokens.at(-1) ?? this.lastToken);
    this.#tokens.push(...tokens);
    this.#give(false);
  }

  end(): void {
    this.#give(true);
  }

  #give(ended: boolean): void {
    const text = this.#decoder.decode(this.#tokens, { skip_special_tokens: true });
    // A character may be spread over several tokens; until the last one it is shown as U+FFFD.
    if (!ended && text.endsWith('\uFFFD')) return;
    const piece = text.slice(this.#out.length);
    this.#out = text;
    if (piece === '') return;
    this.text += piece;
    this.#onPiece(piece);
    // Decoding all anew at each token would take ever longer: a line's end is a safe place to begin. Its token stays, because at the front
    // of a text many decoders leave out a space.
    if (piece.endsWith('\n')) {
      this.#tokens = this.#tokens.slice(-1);
      this.#out = this.#decoder.decode(this.#tokens, { skip_special_tokens: true });
    }
  }
}
