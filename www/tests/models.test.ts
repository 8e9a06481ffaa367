import { expect, test, vi } from 'vitest';

const testConnection = vi.fn();
const openAICompatible = vi.fn((options: object) => options);
vi.mock('memstrata/providers', () => ({ testConnection, openAICompatible }));
const { tryConnection } = await import('../src/models/connection');
const { manner, relationship, style } = await import('../src/models/manner');

const endpoint = { baseURL: 'http://localhost:11434/v1', model: 'm' };

test('what is typed is tested, with a key only where there is one', async () => {
  testConnection.mockResolvedValue({ ok: true, ms: 3 });
  expect(await tryConnection(endpoint, '')).toEqual({ ok: true, ms: 3 });
  expect(openAICompatible).toHaveBeenLastCalledWith(endpoint);
  await tryConnection(endpoint, 'secret');
  expect(openAICompatible).toHaveBeenLastCalledWith({ ...endpoint, apiKey: 'secret' });
});

test('whatever goes wrong is a result', async () => {
  testConnection.mockRejectedValue(new Error('no'));
  expect(await tryConnection(endpoint, '')).toEqual({ ok: false, cause: 'unknown', message: 'no' });
  openAICompatible.mockImplementationOnce(() => {
    throw new Error('bad address');
  });
  expect(await tryConnection(endpoint, '')).toEqual({ ok: false, cause: 'unknown', message: 'bad address' });
});

test('style and relationship go along only where they say something', () => {
  expect(manner.value).toEqual({});
  style.value = ' brief ';
  relationship.value = '  ';
  expect(manner.value).toEqual({ style: 'brief' });
});
