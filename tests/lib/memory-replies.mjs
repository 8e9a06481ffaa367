/**
 * What a model says that keeps memory by rule: it notes the names and home cities that users tell, word for word, and one
 * trait. It reads the prompts as src/generation/prompt of the crate writes them.
 */

/** Facts that are noted, as the sentence that tells them. */
const TELLING = [
  { attribute: 'name', pattern: /\bMy name is (\p{Lu}[\p{L}'-]*)/gu },
  { attribute: 'home city', pattern: /\bI live in ([^.,;!?\n]+)/gu },
];

/** Pages of a prompt: id and what the user said. Page p0 is shown for context only. */
export function pagesOf(user) {
  const block = user.match(/<pages (\w+)>\n([\s\S]*?)\n<\/pages \1>/)?.[2] ?? '';
  return block
    .split(/^(?=\[p\d+\] )/m)
    .map((page) => ({ id: page.match(/^\[(p\d+)\]/)?.[1], said: page.match(/^(?:[^\n]*\(user\)|user): (.*)$/m)?.[1] ?? '' }))
    .filter(({ id }) => id !== undefined && id !== 'p0');
}

function factsOf(pages) {
  return pages.flatMap(({ id, said }) =>
    TELLING.flatMap(({ attribute, pattern }) =>
      [...said.matchAll(pattern)].map(([quote, value]) => ({ subject: 'user', attribute, value: value.trim(), kind: 'knowledge', confidence: 0.95, valid_from: null, quote: quote.trim(), page: id })),
    ),
  );
}

const first = (pages) => pages.find(({ said }) => said !== '') ?? pages[0];

/** By what the system text asks for; the first that fits answers. */
const REPLIES = [
  [['"segments"', '"facts"'], (pages) => ({
    reasoning: 'All of it is talk of the day.',
    segments: [{ continues: null, title: 'Talk of the day', summary: `The user said: ${first(pages)?.said ?? ''}`, keywords: ['talk', 'day', 'home'], pages: pages.map(({ id }) => id) }],
    links: pages.map(({ id }, index) => ({ page: id, continues: index === 0 ? null : pages[index - 1].id, meta_info: 'The user tells of the day.' })),
    facts: factsOf(pages),
  })],
  [['"traits"'], (pages) => ({
    reasoning: 'The user tells of the day.',
    profile: `The user said: ${pages.map(({ said }) => said).filter(Boolean).slice(0, 3).join(' ')}`,
    traits: first(pages)?.said ? [{ dimension: 0, level: 'high', confidence: 0.8, quote: first(pages).said, page: first(pages).id }] : [],
  })],
  [['"user_knowledge"'], (pages) => ({ reasoning: 'What they tell.', user_knowledge: factsOf(pages), assistant_knowledge: [] })],
  [['"themes"'], (pages) => ({ reasoning: 'One theme.', themes: [{ title: 'Talk of the day', summary: `The user said: ${first(pages)?.said ?? ''}`, keywords: ['talk', 'day', 'home'], pages: pages.map(({ id }) => id) }] })],
  [['"continues": true or false'], () => ({ reasoning: 'A new matter.', continues: false })],
  [['{"meta_info"'], () => ({ meta_info: 'The user tells of the day.' })],
];

/** The reply to a prompt of memory, as an object; `undefined` for any other prompt. */
export function memoryReply(messages) {
  const text = (role) => messages.filter((message) => message.role === role).map((message) => message.content).join('\n\n');
  const system = text('system');
  const found = REPLIES.find(([asked]) => asked.every((words) => system.includes(words)));
  return found?.[1](pagesOf(text('user')));
}
