/** What every environment does with the package: open, add a turn, find it; and, opened again, find it again. */
const SAID = 'The spare key is under the zinc bucket.';

/** @param {boolean} first  whether the turn is still to be added */
export async function use(MemoryOS, first, options = {}) {
  const memory = await MemoryOS.open({ name: 'pack', userId: 'tester', ...options });
  try {
    if (options.embedder !== 'none') await embedder(memory);
    if (first) await memory.addMemory({ userInput: SAID, agentResponse: 'Noted.' });
    // A memory that came as a file is embedded after it is stored.
    await memory.flush();
    const { hits, query } = await memory.retrieve('Where is the spare key?');
    const { pages } = await memory.stats();
    if (pages !== 1) throw new Error(`${pages} pages are stored, not 1`);
    if (hits[0]?.text !== SAID) throw new Error(`found ${JSON.stringify(hits[0]?.text)}`);
    return { vectors: query.vectors };
  } finally {
    await memory.close();
  }
}

/** Resolves when the embedding table is there, rejects when it could not be loaded. */
async function embedder(memory) {
  await new Promise((resolve, reject) => {
    memory.on('embedder', ({ status, message }) => (status === 'ready' ? resolve() : status === 'failed' && reject(new Error(message))));
    memory.stats().then((stats) => stats.embedder.ready && resolve(), reject);
  });
}
