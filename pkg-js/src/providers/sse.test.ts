import { expect, test } from 'vitest';
import { serverEvents } from './sse.js';

async function read(text: string, size: number) {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const events = [];
  for await (const event of serverEvents(async () => (at < bytes.length ? bytes.subarray(at, (at += size)) : undefined))) events.push(event);
  return events;
}

const STREAM = '\ufeff: hi\n\nevent: greeting\ndata: 你好\ndata:  two spaces\n\nid: 7\nretry: 10\ndata\n\nevent: lost\n\ndata: a:b\n:end\ndata: 🌍';
const EVENTS = [{ event: 'greeting', data: '你好\n two spaces' }, { data: '' }, { data: 'a:b\n🌍' }];

test('case_41_events_are_the_same_wherever_the_stream_is_cut_and_however_its_lines_end', async () => {
  for (const lineEnd of ['\n', '\r\n', '\r']) {
    for (let size = 1; size <= 40; size++) {
      expect(await read(STREAM.replaceAll('\n', lineEnd), size)).toEqual(EVENTS);
    }
  }
});

test('case_41_a_last_event_with_and_without_its_blank_line_is_given_once', async () => {
  for (const end of ['', '\n', '\n\n', '\r', '\r\n\r\n', '\n\n\n\n']) expect(await read(`data: x${end}`, 3)).toEqual([{ data: 'x' }]);
  expect(await read('', 1)).toEqual([]);
});
