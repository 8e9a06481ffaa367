import assert from 'node:assert/strict';
import test from 'node:test';
import { toPages, TurnMap, withZone } from './pages.mjs';

const turn = (id, role, text, session = 1) => ({ id, session, time: '2023-05-08T13:56:00', speaker: role === 'user' ? 'Ann' : 'Ben', role, text });

test('pairs a question with its answer and keeps lone turns in order', () => {
  const pages = toPages([
    turn('a', 'assistant', 'Hello'), turn('b', 'user', 'Hi'), turn('c', 'assistant', 'How are you?'),
    turn('d', 'user', 'Fine'), turn('e', 'user', 'And you?'), turn('f', 'assistant', 'Good'),
  ]);
  assert.deepEqual(pages.map((p) => [p.input.userInput, p.input.agentResponse]), [['', 'Hello'], ['Hi', 'How are you?'], ['Fine', ''], ['And you?', 'Good']]);
  assert.deepEqual(pages.map((p) => p.input.id), ['a', 'b', 'd', 'e']);
});

test('never pairs across sessions and leaves blank turns out', () => {
  const pages = toPages([turn('a', 'user', 'Bye', 1), turn('b', 'assistant', 'Welcome back', 2), turn('c', 'user', '  ', 2)], { scope: 'x/' });
  assert.deepEqual(pages.map((p) => p.input.session), ['x/1', 'x/2']);
  assert.deepEqual(pages.map((p) => p.input.id), ['x/a', 'x/b']);
});

test('names the turn behind each side of a page', () => {
  const [page] = toPages([turn('a', 'user', 'Hi'), turn('b', 'assistant', 'Hello')]);
  const map = new TurnMap();
  map.set('p1', page);
  assert.equal(map.of({ pageId: 'p1', role: 'assistant' }).id, 'b');
  assert.throws(() => map.of({ id: 'p2/user', pageId: 'p2', role: 'user' }), /p2\/user/);
});

test('reads a time without a zone as UTC', () => {
  assert.equal(withZone('2023-05-08'), '2023-05-08T00:00:00Z');
  assert.equal(withZone('2023-05-08T13:56:00'), '2023-05-08T13:56:00Z');
  assert.equal(withZone('2023-05-08T13:56:00+08:00'), '2023-05-08T13:56:00+08:00');
  assert.equal(withZone(null), undefined);
});
