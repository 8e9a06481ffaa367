/**
 * An OpenAI-style chat server over a GGUF file, for trying memstrata with a language model and no network:
 *   npm install --no-save node-llama-cpp@3
 *   node tests/demo/local-model.mjs MODEL.gguf [PORT] [--no-schema]
 * `response_format: json_schema` becomes a grammar, so that even a small model answers in form. With --no-schema the
 * server refuses it and tools, as some do, and the model is on its own.
 */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';

const args = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
const takesSchema = !process.argv.includes('--no-schema');
const [modelPath, port = '8081'] = args;
if (!modelPath) {
  console.error('give the path of a GGUF file: node tests/demo/local-model.mjs MODEL.gguf [PORT] [--no-schema]');
  process.exit(2);
}
const { getLlama, LlamaChat } = await import(pathToFileURL(createRequire(`${process.cwd()}/`).resolve('node-llama-cpp')).href);

const CONTEXT_TOKENS = 4096;
const MOST_TOKENS = 2000;
const MOST_CHARS = 120;
const MOST_ITEMS = 2;
const llama = await getLlama({ build: 'never', gpu: false, maxThreads: 1 });
const model = await llama.loadModel({ modelPath });
const name = basename(modelPath, '.gguf');
const grammars = new Map();
// One answer after the other: there is one thread.
let last = Promise.resolve();

function grammarOf(schema) {
  const key = JSON.stringify(schema);
  if (!grammars.has(key)) grammars.set(key, llama.createGrammarForJsonSchema(grammatical(schema)));
  return grammars.get(key);
}

/** The grammar takes no references and one type a value; bounds keep a small model from going on for ever. */
function grammatical(schema, root = schema) {
  if (schema.$ref) return grammatical(schema.$ref.split('/').slice(1).reduce((at, part) => at[part], root), root);
  if (schema.enum) return { enum: schema.enum };
  if (Array.isArray(schema.type)) return { oneOf: schema.type.map((type) => grammatical({ type }, root)) };
  if (schema.type === 'string') return { type: 'string', maxLength: MOST_CHARS };
  if (schema.type === 'array') return { type: 'array', items: grammatical(schema.items, root), maxItems: MOST_ITEMS };
  if (schema.type !== 'object') return { type: schema.type };
  return { type: 'object', properties: Object.fromEntries(Object.entries(schema.properties).map(([name, value]) => [name, grammatical(value, root)])) };
}

async function complete(body, onText) {
  const context = await model.createContext({ contextSize: CONTEXT_TOKENS, threads: 1 });
  try {
    const sequence = context.getSequence();
    const chat = new LlamaChat({ contextSequence: sequence });
    const history = body.messages.map(({ role, content }) =>
      role === 'assistant' ? { type: 'model', response: [content] } : { type: role, text: content });
    if (history.at(-1)?.type !== 'model') history.push({ type: 'model', response: [] });
    const grammar = body.response_format?.type === 'json_schema' ? await grammarOf(body.response_format.json_schema.schema) : undefined;
    const { response, metadata } = await chat.generateResponse(history, {
      maxTokens: Math.min(body.max_tokens ?? 300, MOST_TOKENS),
      temperature: 0.2,
      seed: 7,
      repeatPenalty: { penalty: 1.15, lastTokens: 128 },
      onTextChunk: onText,
      ...(grammar ? { grammar } : {}),
    });
    const prompt = model.tokenize(body.messages.map(({ content }) => content).join('\n')).length;
    return { text: response, finish: metadata.stopReason === 'maxTokens' ? 'length' : 'stop', usage: { prompt_tokens: prompt, completion_tokens: model.tokenize(response).length } };
  } finally {
    await context.dispose();
  }
}

const HEADERS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'authorization, content-type' };

createServer(async (request, response) => {
  if (request.method === 'OPTIONS') return response.writeHead(204, HEADERS).end();
  const refuse = (status, message) => response.writeHead(status, { ...HEADERS, 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
  if (request.url?.endsWith('/models')) return response.writeHead(200, { ...HEADERS, 'content-type': 'application/json' }).end(JSON.stringify({ data: [{ id: name }] }));
  if (!request.url?.endsWith('/chat/completions')) return refuse(404, `there is nothing at ${request.url}`);
  let text = '';
  for await (const chunk of request) text += chunk;
  const body = JSON.parse(text);
  if ((body.response_format || body.tools) && !takesSchema) return refuse(400, 'response_format and tools are not supported');
  const run = last.then(async () => {
    const started = Date.now();
    if (body.stream) {
      response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' });
      const send = (value) => response.write(`data: ${JSON.stringify(value)}\n\n`);
      const { finish, usage } = await complete(body, (delta) => send({ choices: [{ index: 0, delta: { content: delta } }] }));
      send({ choices: [{ index: 0, delta: {}, finish_reason: finish }], usage });
      response.end('data: [DONE]\n\n');
      console.log(`streamed ${usage.completion_tokens} tokens in ${Date.now() - started} ms`);
    } else {
      const { text: content, finish, usage } = await complete(body);
      response.writeHead(200, { ...HEADERS, 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }], usage }));
      console.log(`${body.response_format?.json_schema?.name ?? 'prose'}: ${usage.prompt_tokens} tokens in, ${usage.completion_tokens} out, ${Date.now() - started} ms, ${finish}`);
    }
  });
  last = run.catch(() => undefined);
  await run.catch((error) => (response.headersSent ? response.end() : refuse(500, String(error?.message ?? error))));
}).listen(Number(port), '127.0.0.1', () => console.log(`${name} at http://127.0.0.1:${port}/v1`));
