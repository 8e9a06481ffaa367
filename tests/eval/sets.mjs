/** The data sets: what they are, where their authors publish them, and on what terms. None of their text is kept here. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const SETS = {
  locomo: {
    what: 'LoCoMo, conversations of two people over months, English',
    from: 'its authors: github.com/snap-research/locomo, data/locomo10.json',
    licence: 'CC BY-NC 4.0: evaluate only, never copy into the project',
  },
  'gvd-cn': {
    what: 'the Chinese users of the MemoryBank set, evidence pages labelled by hand',
    from: 'its authors: github.com/zhongwanjun/MemoryBank-SiliconFriend, eval_data/cn',
    licence: 'MIT',
  },
  realmem: {
    what: 'RealMem, personas working with an assistant over many sessions',
    from: "its authors' release of the RealMem benchmark",
    licence: 'Apache-2.0',
  },
  prefeval: {
    what: 'PrefEval, stated preferences and the requests that they should colour',
    from: 'its authors: github.com/amazon-science/PrefEval',
    licence: 'CC BY-NC 4.0: evaluate only, never copy into the project',
  },
};

/** The file of a set, or `null` when it is not there. */
export function load(dir, set, split) {
  const path = join(dir, `${set}-${split}.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
}

/** What to do about a file that is not there. */
export function missing(dir, set, split) {
  const { what, from, licence } = SETS[set];
  return [
    `${set}: no file ${join(dir, `${set}-${split}.json`)}, skipped`,
    `  ${what}`,
    `  get it from ${from} (${licence})`,
    '  and write it as {"name","split","conversations":[{"id","turns":[{"id","session","time","speaker","role","text"}],',
    '  "questions":[{"id","question","category","asked_at","evidence_turns"|"evidence_pages"|"evidence_sessions","answer"}]}]}',
  ].join('\n');
}
