/**
 * BERT's uncased WordPiece tokeniser: a text cut at white space and punctuation, every Han character alone, accents dropped,
 * and each word into the longest pieces that the vocabulary has, from the left.
 */
import { readFileSync } from 'node:fs';

const MAX_WORD = 100; // characters; a longer word is unknown as a whole
const HAN = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;
// ASCII's symbols count as punctuation, those beyond ASCII do not.
const WORDS = /[!-/:-@[-`{-~\p{P}]|[^\s!-/:-@[-`{-~\p{P}]+/gu;

const words = (text) =>
  text
    .replace(/[\t\n\r]/g, ' ')
    .replace(/\p{C}|\ufffd/gu, '')
    .replace(HAN, ' $& ')
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .match(WORDS) ?? [];

export class WordPiece {
  #ids;

  /** @param {string[]} vocabulary pieces in the order of their ids; `##` marks one that continues a word */
  constructor(vocabulary) {
    this.#ids = new Map(vocabulary.map((piece, id) => [piece, id]));
  }

  /** From a file with one piece a line. */
  static read(path) {
    return new WordPiece(readFileSync(path, 'utf8').trimEnd().split('\n'));
  }

  /** Ids of the pieces, between `[CLS]` and `[SEP]`, `most` of them in all. */
  row(text, most) {
    const ids = words(text).flatMap((word) => this.#pieces([...word])).slice(0, most - 2);
    return [this.#ids.get('[CLS]'), ...ids, this.#ids.get('[SEP]')];
  }

  #pieces(word) {
    const ids = [];
    let from = word.length > MAX_WORD ? NaN : 0;
    while (from < word.length) {
      let end = word.length;
      const piece = () => this.#ids.get((from ? '##' : '') + word.slice(from, end).join(''));
      while (end > from && piece() === undefined) end -= 1;
      if (end === from) break;
      ids.push(piece());
      from = end;
    }
    return from === word.length ? ids : [this.#ids.get('[UNK]')];
  }
}
