import { expect, test, vi } from 'vitest';
import { McpServer } from './protocol.js';
import type { Json } from './protocol.js';
import { TOOLS } from '../tools/index.js';

test('progress is told while the call runs, only to who asked for it, and only as it grows', async () => {
  const sent: unknown[] = [];
  const server = new McpServer({
    name: 'm', version: '0', instructions: '', tools: TOOLS,
    async call(_tool, _args, { onProgress }): Promise<Json> {
      for (const done of [1, 1, 3]) onProgress?.(done, 3);
      return { deleted: 3 };
    },
    send: (message) => sent.push(message),
  });
  const ask = (id: number, _meta: Json): void => server.receive({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'delete_memory', arguments: { ids: ['a'] }, _meta } });
  server.receive({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } } });
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  ask(1, { progressToken: 'p' });
  ask(2, {});
  await vi.waitFor(() => expect(sent).toHaveLength(5));
  const told = sent.filter((message) => (message as Json).method === 'notifications/progress').map((message) => (message as Json).params);
  expect(told).toEqual([{ progressToken: 'p', progress: 1, total: 3 }, { progressToken: 'p', progress: 3, total: 3 }]);
});
