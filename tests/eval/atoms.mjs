/**
 * Sentences and stems of the reference recipe, for `strict@N` alone: which sentence of an evidence turn carries the
 * answer is decided here, apart from the package that is measured.
 */
import snowball from 'snowball-stemmers';

const english = snowball.newStemmer('english');
const STOP = new Set(
  `a an the is are was were be been being am do does did doing have has had having i me my we our you your he him his she her it its
  they them their this that these those and or but if of at by for with about to from in out on off over under then so than too very can will just
  should would could what which who whom when where why how not no s t d ll m re ve`.split(/\s+/),
);
const PHOTO = '[shares a photo'; // marker of a caption in LoCoMo
const isCjk = (c) => c >= '\u3400' && c <= '\u9fff';

/** Stems without stop words; a run of Chinese gives its bigrams and its characters. */
export function stems(text) {
  const out = [];
  for (const word of text.toLowerCase().match(/[\u3400-\u9fff]+|[a-z0-9]+/g) ?? []) {
    if (STOP.has(word)) continue;
    if (!isCjk(word[0])) out.push(english.stem(word));
    else out.push(...[...word].slice(1).map((c, i) => word[i] + c), ...word);
  }
  return out;
}

const tooShort = (piece) => (isCjk(piece[0]) ? [...piece].length : piece.split(/\s+/).length) < 4;

/** A turn cut after sentence ends, pieces under four words glued to a neighbour. */
export function sentences(text) {
  const cuts = [0];
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if ('。！？；\n'.includes(c) || ('.!?'.includes(c) && /\s/.test(text[i + 1] ?? ''))) cuts.push(i + 1);
    else if (text.startsWith(PHOTO, i)) cuts.push(i);
  }
  const out = [];
  cuts.forEach((from, i) => {
    const piece = text.slice(from, cuts[i + 1]).trim();
    if (!piece) return;
    if (out.length && tooShort(piece)) out[out.length - 1] += ` ${piece}`;
    else out.push(piece);
  });
  if (out.length > 1 && !isCjk(out[0][0]) && tooShort(out[0])) out.splice(0, 2, `${out[0]} ${out[1]}`);
  return out.length ? out : [text];
}

const overlap = (a, b) => new Set(a.filter((x) => b.has(x))).size;

/** The sentence of an evidence turn that overlaps most with the answer. */
export function goldSentence(text, question, answer) {
  const [inAnswer, inQuestion] = [new Set(stems(String(answer ?? ''))), new Set(stems(question))];
  const value = (s) => 3 * overlap(stems(s), inAnswer) + overlap(stems(s), inQuestion) - 0.5 * Number(/[?？]\s*$/.test(s));
  return sentences(text).reduce((best, s) => (value(s) > value(best) ? s : best));
}
