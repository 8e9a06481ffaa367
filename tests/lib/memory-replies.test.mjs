import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { memoryReply, pagesOf } from './memory-replies.mjs';

/** A prompt as the crate renders it, from the texts that its own tests pin. */
function prompt(name) {
  const text = readFileSync(new URL(`../fixture/prompt/${name}.txt`, import.meta.url), 'utf8');
  const [system, rest] = text.split('\n\n---- user ----\n');
  const [user, schema] = rest.split(/\n\n---- \w+ ----\n/);
  return { messages: [{ role: 'system', content: system }, { role: 'user', content: user }], schema: JSON.parse(schema), user };
}

test('pages are read with their ids and what the user said, without the one for context', () => {
  assert.deepEqual(pagesOf(prompt('segments.en').user), [
    { id: 'p1', said: 'My sister Mia starts her new job in Porto next week.' },
    { id: 'p2', said: 'Yes, on Saturday. By the way, I gave up coffee last month.' },
    { id: 'p3', said: '' },
  ]);
  assert.equal(pagesOf(prompt('segments.zh').user)[0].said, '不用，公司会订。我对花生过敏。');
});

test('every prompt of memory is answered with the fields that it asks for', () => {
  for (const step of ['segments', 'profile', 'knowledge', 'multi_topic', 'continuity', 'meta_info']) {
    for (const language of ['en', 'zh']) {
      const { messages, schema } = prompt(`${step}.${language}`);
      assert.deepEqual(Object.keys(memoryReply(messages)), schema.required, `${step}.${language}`);
    }
  }
  assert.equal(memoryReply([{ role: 'system', content: 'You are a friend.' }, { role: 'user', content: 'Where do I live?' }]), undefined);
});

test('facts quote the user to the letter', () => {
  const { messages, user } = prompt('segments.en');
  const told = user.replace('My sister Mia starts', 'My name is Anna and I live in Lisbon. My sister Mia starts');
  const { facts, segments } = memoryReply([messages[0], { role: 'user', content: told }]);
  assert.deepEqual(facts.map(({ attribute, value, quote, page }) => [attribute, value, quote, page]), [
    ['name', 'Anna', 'My name is Anna', 'p1'],
    ['home city', 'Lisbon', 'I live in Lisbon', 'p1'],
  ]);
  assert.deepEqual(segments[0].pages, ['p1', 'p2', 'p3']);
  const profile = prompt('profile.en');
  const [trait] = memoryReply(profile.messages).traits;
  assert.ok(profile.user.includes(trait.quote));
});
