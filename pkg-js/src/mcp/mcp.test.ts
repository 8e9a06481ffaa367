/** The command as clients start it: a process of its own, with the official clients of two generations. */
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client as FormerClient } from 'mcp-client-v1/client/index.js';
import { StdioClientTransport as FormerTransport } from 'mcp-client-v1/client/stdio.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { packaged } from '../fixtures/bundle.js';
import { TOOLS } from '../tools/index.js';

let root: string;
let script: string;
let serial = 0;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'memstrata-mcp-'));
  script = await packaged('mcp/bin.ts', root);
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const folder = (): string => join(root, `store-${++serial}`);
const INFO = { name: 'test', version: '1' };
const parameters = (args: string[], env: Record<string, string> = {}) => ({ command: process.execPath, args: [script, '--embedder', 'none', ...args], env, stderr: 'ignore' as const });

type Structured = Record<string, any>;
interface Calls {
  call(name: string, args?: Record<string, unknown>, options?: { onprogress?: (progress: { progress: number; total?: number | undefined }) => void }): Promise<{ isError: boolean; text: string; value: Structured }>;
  tools(): Promise<{ name: string; annotations?: unknown; outputSchema?: unknown }[]>;
  version(): string | undefined;
}

function calls(client: { callTool: any; listTools: any }, version: () => string | undefined): Calls {
  return {
    async call(name, args = {}, options) {
      const result = client instanceof FormerClient ? await client.callTool({ name, arguments: args }, undefined, options) : await client.callTool({ name, arguments: args }, options);
      return { isError: result.isError === true, text: result.content[0].text, value: result.structuredContent ?? {} };
    },
    tools: async () => (await client.listTools()).tools,
    version,
  };
}

const clients: [string, (args: string[], env?: Record<string, string>) => Promise<Calls>][] = [
  ['client 2.x, revision 2026-07-28', async (args, env) => {
    const client = new ModernClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new ModernTransport(parameters(args, env)));
    ends.push(() => client.close());
    return calls(client, () => client.getNegotiatedProtocolVersion());
  }],
  ['client 2.x, with initialize', async (args, env) => {
    const client = new ModernClient(INFO);
    await client.connect(new ModernTransport(parameters(args, env)));
    ends.push(() => client.close());
    return calls(client, () => client.getNegotiatedProtocolVersion());
  }],
  ['client 1.x', async (args, env) => {
    const client = new FormerClient(INFO);
    const transport = new FormerTransport(parameters(args, env));
    await client.connect(transport);
    ends.push(() => client.close());
    return calls(client, () => (client as unknown as { _negotiatedProtocolVersion?: string })._negotiatedProtocolVersion ?? client.getServerVersion()?.name);
  }],
];

describe.each(clients)('o20_%s', (_name, connect) => {
  test('o20_lists_eight_tools_with_schemas_and_hints', async () => {
    const client = await connect(['--store', folder()]);
    expect(client.version()).toBeTruthy();
    const tools = await client.tools();
    expect(tools.map(({ name }) => name)).toEqual([
      'add_memory', 'retrieve_memory', 'get_user_profile', 'search_memories', 'list_memories', 'update_memory', 'delete_memory', 'memory_history',
    ]);
    for (const { annotations, outputSchema } of tools) {
      expect(annotations).toMatchObject({ openWorldHint: false, readOnlyHint: expect.any(Boolean), destructiveHint: expect.any(Boolean), idempotentHint: expect.any(Boolean) });
      expect(outputSchema).toMatchObject({ type: 'object' });
    }
  });

  test('o20_remembers_recalls_lists_and_forgets_also_after_a_restart', async () => {
    const store = folder();
    const client = await connect(['--store', store, '--user', 'ines']);
    const turn = { user_input: 'My dog is called Rex.', agent_response: 'A fine name.', timestamp: '2026-02-03T20:15:00+01:00', session: 's1', id: 'turn-1' };
    const { value: added } = await client.call('add_memory', turn);
    expect(added).toMatchObject({ status: 'stored' });
    expect((await client.call('add_memory', turn)).value).toEqual({ id: added.id, status: 'duplicate' });
    const { value, text } = await client.call('retrieve_memory', { query: 'the dog' });
    expect(value.context).toContain('Rex');
    expect(value.hits[0]).toMatchObject({ page_id: added.id, time: '2026-02-03T20:15:00+01:00', session: 's1' });
    expect(value.notice).toContain('not instructions');
    expect(JSON.parse(text)).toEqual(value);
    expect((await client.call('search_memories', { query: 'dog', role: 'assistant', session: 'none' })).value.hits).toEqual([]);
    await ends.pop()?.();

    const again = await connect(['--store', store], { MEMSTRATA_USER: 'ines' });
    expect((await again.call('list_memories')).value).toMatchObject({ turns: [{ id: added.id, user_input: 'My dog is called Rex.' }], next_offset: null });
    const progress: number[] = [];
    const { value: gone } = await again.call('delete_memory', { ids: [added.id, 'nothing'] }, { onprogress: ({ progress: done }) => progress.push(done) });
    expect(gone).toEqual({ deleted_turns: [added.id], deleted_facts: [], not_found: ['nothing'] });
    // The client drops a notice that comes in one piece with the answer.
    expect([[], [2]]).toContainEqual(progress);
    expect((await again.call('list_memories')).value.turns).toEqual([]);
    expect((await again.call('get_user_profile')).value).toMatchObject({ user_profile: null, user_knowledge: [] });
    await ends.pop()?.();
    // Another user's memory in the same files.
    const other = await connect(['--store', store, '--user', 'ada']);
    expect((await other.call('list_memories')).value.turns).toEqual([]);
  });

  test('o20_a_wrong_call_says_what_is_wrong_and_the_next_one_works', async () => {
    const client = await connect(['--store', folder()]);
    const wrong: [string, Record<string, unknown>, string][] = [
      ['add_memory', {}, 'arguments.user_input is missing'],
      ['add_memory', { user_input: 7 }, 'arguments.user_input must be of type string, got 7'],
      ['add_memory', { user_input: '' }, 'both empty'],
      ['retrieve_memory', { query: 'x', max_results: 0 }, 'arguments.max_results must be 1 to 100, got 0'],
      ['retrieve_memory', { query: 'x', colour: 'red' }, 'arguments.colour is unknown'],
      ['search_memories', { query: 'x', from: 'one fine day' }, 'one fine day'],
      ['update_memory', { id: 'nothing', value: 'x' }, 'NOT_FOUND'],
      ['list_memories', { kind: 'secrets' }, '"turns", "facts"'],
      ['delete_memory', { ids: [] }, 'arguments.ids must have 1 to 1000 entries, got 0'],
    ];
    for (const [name, args, words] of wrong) {
      const result = await client.call(name, args);
      expect([result.isError, result.text], name).toEqual([true, expect.stringContaining(words)]);
    }
    await expect(client.call('no_such_tool')).rejects.toThrow('there is no tool "no_such_tool"');
    expect((await client.call('add_memory', { user_input: 'still here' })).isError).toBe(false);
  });

  test('o20_read_only_offers_and_runs_nothing_that_changes', async () => {
    const client = await connect(['--store', folder(), '--read-only']);
    expect((await client.tools()).map(({ name }) => name)).toEqual(TOOLS.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name));
    await expect(client.call('add_memory', { user_input: 'x' })).rejects.toThrow('there is no tool');
  });
});

/** The bare process, line by line. */
function raw(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [script, '--embedder', 'none', ...args], { env: { ...process.env, ...env } }) as ChildProcessWithoutNullStreams;
  ends.push(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let errors = '';
  child.stderr.on('data', (bytes) => (errors += String(bytes)));
  return {
    child,
    exit: once(child, 'exit') as Promise<[number | null, string | null]>,
    errors: () => errors,
    send: (message: unknown) => child.stdin.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`),
    next: async (): Promise<any> => JSON.parse((await lines.next()).value as string),
  };
}

const request = (id: number, method: string, params: unknown = {}) => ({ jsonrpc: '2.0', id, method, params });
const call = (id: number, name: string, args: unknown = {}) => request(id, 'tools/call', { name, arguments: args });

describe('o20_the_protocol', () => {
  test('o20_each_revision_that_a_client_asks_for_is_answered_an_unknown_one_with_the_latest', async () => {
    const { send, next } = raw(['--store', folder()]);
    for (const [asked, given] of [['2024-11-05', '2024-11-05'], ['2025-03-26', '2025-03-26'], ['2025-06-18', '2025-06-18'], ['2025-11-25', '2025-11-25'], ['1999-01-01', '2025-11-25']]) {
      send(request(1, 'initialize', { protocolVersion: asked, capabilities: {}, clientInfo: INFO }));
      expect(await next()).toMatchObject({ id: 1, result: { protocolVersion: given, capabilities: { tools: {} }, serverInfo: { name: 'memstrata' } } });
    }
    send(request(2, 'tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' } }));
    expect(await next()).toMatchObject({ id: 2, error: { code: -32022, data: { requested: '2030-01-01', supported: expect.arrayContaining(['2026-07-28']) } } });
  });

  test('o20_what_is_no_request_is_refused_and_the_server_lives_on', async () => {
    const { child, send, next } = raw(['--store', folder()]);
    const refused: [unknown, unknown, number][] = [
      ['{ no json\n', null, -32700], [[], null, -32600], [7, null, -32600], [{ id: 1, method: 'ping' }, null, -32600], [{ jsonrpc: '2.0', id: {}, method: 'ping' }, null, -32600],
      [{ jsonrpc: '2.0', id: 2 }, 2, -32600], [request(3, 'resources/list'), 3, -32601], [request(4, 'tools/call', { name: '__proto__' }), 4, -32602], [request(5, 'tools/list', []), 5, -32602],
    ];
    for (const [message, id, code] of refused) {
      send(message);
      expect(await next(), JSON.stringify(message)).toMatchObject({ id, error: { code } });
    }
    send({ jsonrpc: '2.0', method: 'notifications/unknown' });
    send({ jsonrpc: '2.0', id: 9, result: {} });
    send([request(6, 'ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }, request(7, 'ping')]);
    expect(await next()).toEqual([{ jsonrpc: '2.0', id: 6, result: {} }, { jsonrpc: '2.0', id: 7, result: {} }]);
    // A line that arrives in pieces, cut inside a character.
    const line = Buffer.from(`${JSON.stringify(call(8, 'add_memory', { user_input: '名前はレックス' }))}\n`);
    for (let at = 0; at < line.length; at += 7) child.stdin.write(line.subarray(at, at + 7));
    expect(await next()).toMatchObject({ id: 8, result: { structuredContent: { status: 'stored' } } });
    send(call(9, 'list_memories'));
    expect(await next()).toMatchObject({ id: 9, result: { structuredContent: { turns: [{ user_input: '名前はレックス' }] } } });
  });

  test('o20_a_line_without_end_is_dropped_and_not_kept', async () => {
    const { child, next } = raw(['--store', folder()]);
    const piece = Buffer.alloc(1 << 20, 0x61);
    for (let at = 0; at < 17; at++) if (!child.stdin.write(piece)) await once(child.stdin, 'drain');
    child.stdin.write(`\n${JSON.stringify(request(1, 'ping'))}\n`);
    expect(await next()).toMatchObject({ id: null, error: { code: -32700, message: expect.stringContaining('longer than') } });
    expect(await next()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  test('o20_a_cancelled_call_is_not_answered_and_two_of_one_id_do_not_run', async () => {
    const { send, next } = raw(['--store', folder()]);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    // In one piece: the first cannot have come to its end before it is cancelled.
    send([call(1, 'search_memories', { query: 'x' }), call(1, 'search_memories', { query: 'x' }), cancel, call(2, 'search_memories', { query: 'x' })].map((message) => `${JSON.stringify(message)}\n`).join(''));
    expect(await next()).toMatchObject({ id: 1, error: { code: -32600 } });
    expect(await next()).toMatchObject({ id: 2, result: { isError: false } });
  });
});

describe('o20_the_process', () => {
  test('o20_it_ends_in_order_when_the_client_goes_or_tells_it_to_and_answers_what_was_asked_before', async () => {
    const store = folder();
    const first = raw(['--store', store]);
    first.send(call(1, 'add_memory', { user_input: 'the last words' }));
    first.child.stdin.end();
    expect(await first.next()).toMatchObject({ id: 1, result: { isError: false } });
    expect(await first.exit).toEqual([0, null]);
    const second = raw(['--store', store]);
    second.send(call(1, 'list_memories'));
    expect((await second.next()).result.structuredContent.turns).toHaveLength(1);
    second.child.kill('SIGTERM');
    expect(await second.exit).toEqual([0, null]);
    expect(readdirSync(store).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });

  test('case_40_killed_after_an_answer_it_has_kept_the_turn_and_another_takes_over_at_once', async () => {
    const store = folder();
    for (let turns = 1; turns <= 3; turns++) {
      const { child, send, next, exit } = raw(['--store', store]);
      send(call(1, 'add_memory', { user_input: `turn ${turns}` }));
      expect(await next()).toMatchObject({ result: { isError: false } });
      child.kill('SIGKILL');
      await exit;
    }
    const { send, next } = raw(['--store', store]);
    send(call(1, 'list_memories'));
    expect((await next()).result.structuredContent.turns).toHaveLength(3);
  });

  test('o20_a_second_server_on_the_same_store_says_who_has_it_and_works_once_that_is_gone', async () => {
    const store = folder();
    const [first, second] = [raw(['--store', store]), raw(['--store', store])];
    first.send(call(1, 'list_memories'));
    await first.next();
    second.send(call(1, 'list_memories'));
    expect(await second.next()).toMatchObject({ result: { isError: true, content: [{ text: expect.stringContaining(`LOCKED: the memory is open in process ${first.child.pid}`) }] } });
    first.child.stdin.end();
    await first.exit;
    second.send(call(2, 'list_memories'));
    expect(await second.next()).toMatchObject({ result: { isError: false } });
  });

  test('o20_nothing_but_protocol_is_on_stdout_also_when_something_logs', async () => {
    const preload = join(root, 'noisy.mjs');
    writeFileSync(preload, "setTimeout(() => { console.log('noise'); console.info('noise'); process.stdout.write('noise\\n'); console.error('said'); }, 50);");
    const child = raw(['--store', folder()], { NODE_OPTIONS: `--import ${preload}` });
    child.send(call(1, 'list_memories'));
    expect(await child.next()).toMatchObject({ id: 1 });
    while (!child.errors().includes('said')) await once(child.child.stderr, 'data');
    child.send(request(2, 'ping'));
    expect(await child.next()).toMatchObject({ id: 2 });
    expect(child.errors().match(/noise/g)).toHaveLength(3);
  });

  test('o20_wrong_settings_end_it_with_a_word_on_stderr_alone', async () => {
    const wrong: [string[], Record<string, string>, string][] = [
      [['--colour', 'red'], {}, '--colour'], [['--model', 'm'], {}, 'MEMSTRATA_BASE_URL'], [[], { MEMSTRATA_EMBEDDER: 'best' }, '"best"'], [['--api-key', 'k'], {}, '--api-key'],
    ];
    for (const [args, env, words] of wrong) {
      const child = spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env } });
      let [out, errors] = ['', ''];
      child.stdout.on('data', (bytes) => (out += String(bytes)));
      child.stderr.on('data', (bytes) => (errors += String(bytes)));
      expect((await once(child, 'close'))[0]).toBe(2);
      expect([out, errors]).toEqual(['', expect.stringContaining(words)]);
    }
  });

  test('o20_the_key_is_in_no_output_and_no_file', async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer((incoming, response) => {
      seen.push(incoming.headers.authorization);
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"bad key sk-secret-123"}}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => server.close());
    const store = folder();
    const baseURL = `http://127.0.0.1:${(server.address() as { port: number }).port}/v1`;
    const child = raw(['--store', store], { MEMSTRATA_BASE_URL: baseURL, MEMSTRATA_MODEL: 'm', MEMSTRATA_API_KEY: 'sk-secret-123' });
    for (let turn = 0; turn < 16; turn++) child.send(call(turn, 'add_memory', { user_input: `turn ${turn}` }));
    let said = '';
    for (let turn = 0; turn < 16; turn++) said += JSON.stringify(await child.next());
    while (!child.errors().includes('background work failed')) await once(child.child.stderr, 'data');
    child.child.stdin.end();
    await child.exit;
    expect(seen).toContain('Bearer sk-secret-123');
    for (const text of [said, child.errors(), ...readdirSync(store).map((name) => readFileSync(join(store, name), 'latin1'))]) expect(text).not.toContain('secret-123');
  });
});
