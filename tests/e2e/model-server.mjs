/**
 * A model server for tests, on an origin of its own. Its preflight allows `authorization` and `content-type` and
 * nothing else, as many do; its stream comes in the shape that a test asks for. What memory asks it answers as a model
 * would that notes names and home cities.
 */
import { once } from 'node:events';
import { memoryReply } from '../lib/memory-replies.mjs';
import { bodyOf, serve } from './server.mjs';

const ALLOWED = ['authorization', 'content-type'];
export const ANSWER = 'Hello 你好🌍, and "quotes" too.';

const delta = (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}`;
const stop = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}`;
const pieces = [...ANSWER].map(delta);

/** Bodies by the name of the path under /v1: what a server may send, in its own line ends and order. */
const STREAMS = {
  plain: [...pieces, stop, 'data: [DONE]', ''].join('\n\n'),
  crlf: [': a comment', ...pieces, ': ping', stop, 'data: [DONE]', ''].join('\r\n\r\n'),
  unfinished: [...pieces, stop].join('\n\n'), // no blank line and no [DONE] at the end
  broken: [...pieces.slice(0, 6), `data: ${JSON.stringify({ error: { message: 'the model ran out of memory', type: 'server_error' } })}`, ''].join('\n\n'),
};

/** Each byte is a write of its own, handed over before the next. */
async function byteByByte(response, text) {
  for (const byte of Buffer.from(text)) {
    if (!response.write(Buffer.of(byte))) await once(response, 'drain');
    await new Promise(setImmediate);
  }
  response.end();
}

/** Answers of a whole conversation need not come byte by byte. */
const WHOLE = 'whole';
/** A server that takes no key. */
const LOCKED = 'locked';

export async function serveModel() {
  const refused = [];
  const requests = [];
  const answer = (shape) => async (request, response) => {
    response.setHeader('access-control-allow-origin', request.headers.origin ?? '*');
    response.setHeader('access-control-allow-headers', ALLOWED.join(', '));
    response.setHeader('access-control-allow-methods', 'POST');
    if (request.method === 'OPTIONS') {
      const asked = (request.headers['access-control-request-headers'] ?? '').split(',').map((h) => h.trim()).filter(Boolean);
      refused.push(...asked.filter((h) => !ALLOWED.includes(h)));
      return response.writeHead(204).end();
    }
    const body = JSON.parse(await bodyOf(request));
    requests.push({ shape, body, headers: request.headers });
    if (shape === LOCKED) {
      response.writeHead(401, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ error: { message: 'Incorrect API key provided' } }));
    }
    const reply = memoryReply(body.messages);
    if (reply !== undefined || !body.stream) {
      const content = reply === undefined ? ANSWER : JSON.stringify(reply);
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage: { prompt_tokens: 900, completion_tokens: 120 } }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return shape === WHOLE ? response.end(STREAMS.plain) : byteByByte(response, STREAMS[shape]);
  };
  const routes = Object.fromEntries([...Object.keys(STREAMS), WHOLE, LOCKED].map((shape) => [`/${shape}/v1/chat/completions`, answer(shape)]));
  const server = await serve({ routes });
  return { ...server, refused, requests, baseURL: (shape) => `${server.url}/${shape}/v1` };
}
