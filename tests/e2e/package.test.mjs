// The package in a bare page of a real browser: what is acknowledged stays, whatever is killed.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, beforeEach, describe, test } from 'node:test';
import { pageOf } from '../bench/grammar.mjs';
import { addInput, said } from './inputs.mjs';
import { launch, newProfile } from './browser.mjs';
import { ANSWER, serveModel } from './model-server.mjs';
import { bodyOf, servePackage } from './server.mjs';

const heard = new EventEmitter();
let attempted = new Set();
let acknowledged = new Set();
let server;

const posted = (fn) => async (request, response) => {
  fn(JSON.parse(await bodyOf(request)));
  response.writeHead(204).end();
};

before(async () => {
  server = await servePackage('/tests/e2e/package-page.mjs', {
    routes: {
      'POST /attempt': posted((id) => attempted.add(id)),
      'POST /ack': posted((id) => {
        acknowledged.add(id);
        heard.emit('ack');
      }),
      'POST /sinking': posted((state) => heard.emit('sinking', state)),
    },
  });
});
after(() => server.close());

/** A page with a call for each function that the module in it exports. */
async function tab(browser) {
  const page = await browser.open(server.url);
  const call = (name, ...args) => page.evaluate(([n, a]) => window.page[n](...a), [name, args]);
  return { page, call };
}

const duplicates = (ids) => ids.filter((id, i) => ids.indexOf(id) !== i);

/** Nothing twice, and the tiers hold exactly the pages that are listed. */
function whole({ listed, inTiers }) {
  assert.deepEqual(duplicates(listed.map((p) => p.clientId)), [], 'a turn is stored twice');
  assert.deepEqual(duplicates(inTiers), [], 'a page lies in two tiers');
  assert.deepEqual([...inTiers].sort(), listed.map((p) => p.id).sort(), 'tiers and listing differ');
}

describe('killed', () => {
  const profile = newProfile();
  after(() => profile.remove());

  test('400 turns are added and the tab is killed in the middle of consolidation: all are there, none doubled, the job resumes', async () => {
    const browser = await launch(profile);
    try {
      let { page, call } = await tab(browser);
      // One page a job, so that there is a middle to be killed in.
      const config = { consolidationBatch: 1 };
      await call('open', 'sinking', { config });
      const sinking = once(heard, 'sinking');
      await Promise.race([sinking, call('addUntilSinking', 200).then(() => sinking)]);
      const [{ waiting }] = await sinking;
      assert.ok(waiting > 0, 'all pages had sunk before the kill');
      await browser.crash(page);
      ({ page, call } = await tab(browser));
      await call('open', 'sinking', { config });
      assert.ok((await call('stats')).shortTerm.waiting > 0, 'all pages had sunk when the tab died');
      const found = await call('everything');
      assert.equal(found.listed.length, 200);
      whole(found);
      await call('flush');
      const stats = await call('stats');
      assert.equal(stats.turns, 400);
      assert.equal(stats.jobs.queued, 0);
      assert.ok(stats.shortTerm.pages <= stats.shortTerm.capacity, `${stats.shortTerm.pages} pages in short-term memory`);
      assert.equal(stats.shortTerm.pages + stats.midTerm.pages + stats.archive.pages, 200);
      whole(await call('everything'));
      await call('close');
    } finally {
      await browser.close();
    }
  });

  test('three SIGKILLs of the browser during adds lose no acknowledged turn and double none', async () => {
    attempted = new Set();
    acknowledged = new Set();
    for (const more of [60, 90, 40]) {
      const browser = await launch(profile);
      const { call } = await tab(browser);
      await call('open', 'killed');
      const goal = acknowledged.size + more;
      const writing = call('addForEver', attempted.size); // dies with the browser
      const reached = (async () => {
        while (acknowledged.size < goal) await once(heard, 'ack');
      })();
      await Promise.race([reached, writing]);
      writing.catch(() => {});
      await browser.kill();
      const again = await launch(profile);
      try {
        const reopened = await tab(again);
        await reopened.call('open', 'killed');
        const found = await reopened.call('everything');
        whole(found);
        const there = new Set(found.listed.map((p) => p.clientId));
        assert.deepEqual([...acknowledged].filter((id) => !there.has(id)), [], 'acknowledged turns are lost');
        assert.deepEqual([...there].filter((id) => !attempted.has(id)), [], 'turns are there that nobody added');
        await reopened.call('close');
      } finally {
        await again.close();
      }
    }
  });

  test('two restarts of the browser give identical rankings', async () => {
    const queries = ['What did I bring to Lisbon?', 'When did I start keeping bees?', '我在杭州带了什么？', 'Who asked about the tax letter?', 'ERR'];
    const rankings = [];
    for (let restart = 0; restart < 3; restart += 1) {
      const browser = await launch(profile);
      try {
        const { call } = await tab(browser);
        await call('open', 'ranked', { tableReady: true });
        if (restart === 0) {
          await call('addAll', Array.from({ length: 80 }, (_, n) => pageOf(n)));
          await call('flush');
        }
        const answers = [];
        for (const query of queries) {
          const { hits, context } = await call('retrieve', query, { topK: 20, budgetTokens: 512 });
          answers.push({ query, context, hits: hits.map(({ id, score, parts, quotes }) => ({ id, score, parts, quotes })) });
        }
        assert.ok(answers.every((a) => a.hits.length > 0), 'a question found nothing');
        rankings.push(answers);
        await call('close');
      } finally {
        await browser.close();
      }
    }
    // Heat is taken at read time, so a score may cool in its last digits; order, quotes and context may not change.
    const order = (answers) => answers.map(({ query, context, hits }) => ({ query, context, hits: hits.map(({ id, quotes }) => ({ id, quotes })) }));
    assert.deepEqual(order(rankings[1]), order(rankings[0]));
    assert.deepEqual(order(rankings[2]), order(rankings[0]));
  });
});

describe('in one browser', () => {
  const profile = newProfile();
  let browser;
  let model;
  let call;
  let page;
  before(async () => {
    browser = await launch(profile);
    model = await serveModel();
  });
  after(async () => {
    await browser.close();
    await model.close();
    profile.remove();
  });
  beforeEach(async () => {
    await page?.close();
    ({ page, call } = await tab(browser));
  });

  test('case_15: the same client id, twice and twelve times at once, is stored once', async () => {
    await call('open', 'case-15');
    const first = await call('add', addInput('m1', 'I moved to Leith.', 'Welcome.'));
    const again = await call('add', addInput('m1', 'I moved to Leith.', 'Welcome.'));
    assert.deepEqual([first.status, again.status, again.id], ['stored', 'duplicate', first.id]);
    const loop = await call('addAll', Array.from({ length: 12 }, () => addInput('m2', 'tool call', 'done')));
    assert.equal(loop.filter((r) => r.status === 'stored').length, 1);
    assert.equal((await call('stats')).pages, 2);
    await call('close');
  });

  test('case_16: an empty side and a message of 200,000 characters are kept and found', async () => {
    await call('open', 'case-16', { tableReady: true });
    const long = `${'The tide came in slowly and the boats turned. '.repeat(4_348).slice(0, 199_950)} The key is under the zinc bucket.`;
    await call('addAll', [addInput('only the user', 'I planted quinces.', ''), addInput('only the assistant', '', 'Remember the quinces.'), addInput('long', long, 'Noted.')]);
    await call('flush');
    const stats = await call('stats');
    assert.equal(stats.pages, 3);
    assert.equal(stats.turns, 4);
    const { hits } = await call('retrieve', 'Where is the key? zinc bucket', { topK: 3, budgetTokens: 256 });
    assert.equal(hits[0].text.length, long.length);
    assert.ok(hits[0].quotes.some((q) => q.includes('zinc bucket')), 'the sentence at the end was not packed');
    const quinces = await call('retrieve', 'quinces', { topK: 5 });
    assert.deepEqual(new Set(quinces.hits.slice(0, 2).map((h) => h.role)), new Set(['user', 'assistant']));
    await call('close');
  });

  test('case_18: every script is found by a few of its characters', async () => {
    await call('open', 'case-18', { embedder: 'none' });
    await call('addAll', said.map(({ id, text }) => addInput(id, text, '')));
    for (const { id, ask } of said) {
      const { hits } = await call('retrieve', ask, { strategy: 'keyword', topK: 3 });
      assert.equal(hits[0]?.text, said.find((s) => s.id === id).text, `${id}: ${ask}`);
    }
    await call('close');
  });

  test('case_20: words that are keys of objects are ordinary text, and such keys of metadata are dropped', async () => {
    await call('open', 'case-20', { embedder: 'none' });
    const texts = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
    await call('addAll', texts.map((text) => addInput(text, `The word of the day is ${text}`, '')));
    for (const text of texts) {
      const { hits } = await call('retrieve', text, { strategy: 'keyword', topK: 1 });
      assert.match(hits[0]?.text ?? '', new RegExp(`${text}$`), text);
    }
    const listed = (await call('everything')).listed;
    assert.equal(listed.length, 4);
    await call('close');
  });

  test('case_23: a text searched by its own words is rank 1, for every strategy', async () => {
    await call('open', 'case-23', { tableReady: true });
    const pages = Array.from({ length: 60 }, (_, n) => pageOf(n)).filter((page, i, all) => all.findIndex((p) => p.userInput === page.userInput) === i);
    await call('addMany', pages);
    await call('flush');
    for (const strategy of ['auto', 'semantic', 'keyword', 'temporal']) {
      for (const page of pages.filter((_, i) => i % 7 === 0)) {
        const { hits } = await call('retrieve', page.userInput, { strategy, topK: 3 });
        assert.equal(hits[0]?.text, page.userInput, strategy);
      }
    }
    await call('close');
  });

  test('case_24: a rare id that only keywords can find is returned', async () => {
    await call('open', 'case-24', { tableReady: true });
    await call('addMany', [...Array.from({ length: 60 }, (_, n) => pageOf(n)), addInput('rare', 'The repair order number is ERR-4417-b, please keep that for me.', 'Noted.')]);
    for (const query of ['ERR-4417-b', 'what was ERR-4417-b about?', 'err-4417-B']) {
      const { hits } = await call('retrieve', query, { topK: 3 });
      assert.ok(hits.some((hit) => hit.text.includes('ERR-4417-b')), query);
    }
    await call('close');
  });

  test('case_31: the same turn at once and a hundred turns at once give the exact count', async () => {
    await call('open', 'case-31');
    const twice = await call('addAll', [addInput('x', 'one', 'two'), addInput('x', 'one', 'two')]);
    assert.deepEqual(twice.map((r) => r.status).sort(), ['duplicate', 'stored']);
    assert.equal(twice[0].id, twice[1].id);
    await call('addAll', Array.from({ length: 100 }, (_, n) => pageOf(n)));
    assert.equal((await call('stats')).pages, 101);
    whole(await call('everything'));
    await call('close');
  });

  test('case_41: a stream of single bytes, CRLF, comments, no blank line at its end: the exact text', async () => {
    for (const shape of ['plain', 'crlf', 'unfinished']) {
      const got = await call('chat', { baseURL: model.baseURL(shape) }, 'hi');
      assert.deepEqual({ streamed: got.streamed, text: got.text, finishReason: got.finishReason }, { streamed: ANSWER, text: ANSWER, finishReason: 'stop' }, shape);
    }
  });

  test('case_41: an error in the middle of a stream that began with HTTP 200 is an error', async () => {
    const got = await call('chat', { baseURL: model.baseURL('broken') }, 'hi');
    assert.equal(got.error?.code, 'PROVIDER_FAILED', JSON.stringify(got));
    assert.match(got.error.message, /ran out of memory/);
  });

  test('case_42: a server whose preflight allows authorization and content-type alone', async () => {
    const got = await call('respond', { baseURL: model.baseURL('plain') }, 'Do you read me?');
    assert.deepEqual([got.mode, got.streamed, got.text], ['model', ANSWER, ANSWER]);
    assert.deepEqual([got.stored.userInput, got.stored.agentResponse], ['Do you read me?', ANSWER]);
    assert.deepEqual(model.refused, []);
    assert.equal(model.requests.at(-1).headers.authorization, 'Bearer test-key');
  });
});
