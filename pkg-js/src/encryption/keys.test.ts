import { inspect } from 'node:util';
import { indexedDB as fakeIndexedDB } from 'fake-indexeddb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Disk, leaks, put, quick, words } from '../fixtures/encryption.js';
import { deviceKey } from './device-key.js';
import { encrypted } from './encrypted.js';
import { decodeHeader, encodeHeader } from './header.js';
import { fromPassphrase } from './passphrase.js';
import { HEADER } from './places.js';
import { newRecoveryCode, readRecoveryCode } from './recovery-code.js';
import { importAes, seal, unseal } from './seal.js';
import { fromRecoveryCode } from './unlock-key.js';
import type { UnlockKey } from './unlock-key.js';

beforeEach(() => vi.stubGlobal('indexedDB', fakeIndexedDB));
afterEach(() => vi.unstubAllGlobals());

async function made(key: UnlockKey) {
  const disk = new Disk();
  const engine = encrypted(disk, key);
  await engine.open('m');
  await put(engine, 'wal', 'ada/1', 'kept');
  return { disk, engine };
}

async function reads(disk: Disk, key: UnlockKey): Promise<string | undefined> {
  const engine = encrypted(disk, key);
  await engine.open('m');
  try {
    return await words(engine, 'wal', 'ada/1');
  } finally {
    await engine.close();
  }
}

describe('s14 passphrases', () => {
  test('are stretched by Argon2id: the value is that of another implementation', async () => {
    const expected = await importAes(Buffer.from('58ca6d85a0d4050d77cad3db6314c0e31c3075710cfd0c7bdc11d3aac0e51da7', 'hex'));
    const key = await fromPassphrase('correct horse').wrapping(new Uint8Array(16).fill(2), { memory: 19_456, iterations: 2 });
    expect(await unseal(expected, ['x'], await seal(key, ['x'], Uint8Array.of(7)))).toEqual(Uint8Array.of(7));
    expect(key.extractable).toBe(false);
  });

  test('leave the thread free while they are stretched', async () => {
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns++;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    await fromPassphrase('p').wrapping(new Uint8Array(16), { memory: 19_456, iterations: 2 });
    done = true;
    expect(turns).toBeGreaterThan(5);
  });

  test('open what they made, typed on another keyboard too; wrong ones are FORBIDDEN', async () => {
    const { disk, engine } = await made(fromPassphrase('Å is one letter'));
    await engine.close();
    expect(await reads(disk, fromPassphrase('A\u030a is one letter'))).toBe('kept');
    const error = await reads(disk, fromPassphrase('wrong one')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'FORBIDDEN', data: { reason: 'wrong-passphrase' } });
    expect(leaks(Buffer.from(inspect(error, { depth: 9, showHidden: true })), ['wrong one', 'is one letter', 'kept'])).toBeUndefined();
  });

  test('have their cost stored beside the key, and none below or above the bounds', async () => {
    const { disk } = await made(fromPassphrase('p', { memory: 20_000, iterations: 3 }));
    const [header] = await disk.read({ store: 'manifest', from: HEADER, to: `${HEADER}\0` });
    expect((await decodeHeader(header?.value as Uint8Array)).slots).toMatchObject([{ kind: 'passphrase', cost: { memory: 20_000, iterations: 3 } }]);
    for (const options of [{ memory: 19_455 }, { iterations: 1 }, { memory: 1e9 }, { iterations: 2.5 }, { memory: Number.NaN }]) {
      expect(() => fromPassphrase('p', options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    }
    for (const wrong of ['', 7, null]) expect(() => fromPassphrase(wrong as string)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });

  test.each([{ memory: 2 ** 30 }, { memory: 0 }, { iterations: 1e6 }, { iterations: 0 }])('a stored cost of %o is STORAGE_CORRUPT, and is not tried', async (cost) => {
    const { disk, engine } = await made(quick('p'));
    await engine.close();
    await disk.open('m');
    const [stored] = await disk.read({ store: 'manifest', from: HEADER, to: `${HEADER}\0` });
    const header = await decodeHeader(stored?.value as Uint8Array);
    Object.assign(header.slots[0]?.cost as object, cost);
    await disk.put({ store: 'manifest', key: HEADER, value: await encodeHeader(header) });
    await expect(reads(disk, quick('p'))).rejects.toMatchObject({ code: 'STORAGE_CORRUPT' });
  });

  test('no key shows its secret to a log or to JSON', () => {
    const code = fromRecoveryCode('0000-0000-0000-0000-0000-0000-0000');
    for (const key of [fromPassphrase('open sesame'), code]) {
      expect(leaks(Buffer.from(inspect(key, { depth: 9, showHidden: true }) + JSON.stringify(key)), ['open sesame', '0000-0000'])).toBeUndefined();
    }
  });
});

describe('s14 a change of passphrase', () => {
  test('lets the new one in and the old one not, and encrypts nothing anew', async () => {
    const { disk, engine } = await made(quick('old'));
    const before = await disk.all();
    await engine.changePassphrase(quick('new'));
    const after = await disk.all();
    const changed = after.filter(({ store, key, value }) => !before.some((one) => one.store === store && one.key === key && Buffer.from(one.value).equals(value)));
    expect(changed.map(({ key }) => key)).toEqual([HEADER]);
    await engine.changePassphrase(quick('newest')); // by the one it was changed to
    await engine.close();
    expect(await reads(disk, quick('newest'))).toBe('kept');
    for (const old of ['old', 'new']) await expect(reads(disk, quick(old))).rejects.toMatchObject({ code: 'FORBIDDEN', data: { reason: 'wrong-passphrase' } });
  });

  test.each(['before', 'after'] as const)('case_40 interrupted at any of its writes (%s it is carried out) leaves a store that the old or the new one opens', async (when) => {
    let writes = 0;
    for (let at = 1; ; at++) {
      const { disk, engine } = await made(quick('old'));
      let seen = 0;
      disk.onCommit = (now) => {
        if (now === when && ++seen === at) throw new Error('the browser was killed');
      };
      const outcome = await engine.changePassphrase(quick('new')).then(() => 'done', () => 'killed');
      disk.onCommit = () => undefined;
      await engine.close();
      if (outcome === 'done') break;
      writes++;
      expect(await reads(disk, quick(when === 'after' ? 'new' : 'old'))).toBe('kept');
      await expect(reads(disk, quick(when === 'after' ? 'old' : 'new'))).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
    expect(writes).toBe(1);
  });

  test('needs the store to be open, and a passphrase', async () => {
    const { engine } = await made(quick('p'));
    await expect(engine.changePassphrase(deviceKey())).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(engine.changePassphrase('words' as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await engine.close();
    await expect(engine.changePassphrase(quick('q'))).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

describe('s14 recovery codes', () => {
  test('open the store when the passphrase is lost, and a new one can be set', async () => {
    const { disk, engine } = await made(quick('forgotten'));
    const code = await engine.addRecoveryCode();
    await engine.close();
    expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){6}[0-9A-HJKMNP-TV-Z]{4}$/);
    const recovered = encrypted(disk, fromRecoveryCode(code.toLowerCase().replaceAll('-', ' ')));
    await recovered.unlock('m');
    await recovered.changePassphrase(quick('found'));
    expect(await recovered.keys()).toEqual(['recovery', 'passphrase']);
    await recovered.close();
    expect(await reads(disk, quick('found'))).toBe('kept');
    await expect(reads(disk, quick('forgotten'))).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect((await disk.open('m'), await disk.all()).map(({ value }) => leaks(value, [code, code.replaceAll('-', '')])).filter(Boolean)).toEqual([]);
  });

  test('that are replaced open it no longer; a code of another store never did', async () => {
    const { disk, engine } = await made(quick('p'));
    const [first, second] = [await engine.addRecoveryCode(), await engine.addRecoveryCode()];
    await engine.close();
    expect(await reads(disk, fromRecoveryCode(first))).toBe('kept');
    expect(await reads(disk, fromRecoveryCode(second))).toBe('kept');
    await engine.open('m');
    const third = await engine.addRecoveryCode({ replace: true });
    await engine.close();
    expect(await reads(disk, fromRecoveryCode(third))).toBe('kept');
    for (const code of [first, second, await newRecoveryCode()]) {
      await expect(reads(disk, fromRecoveryCode(code))).rejects.toMatchObject({ code: 'FORBIDDEN', data: { reason: 'wrong-recovery-code' } });
    }
  });

  test('that are mistyped are told so without being shown', async () => {
    const code = await newRecoveryCode();
    expect(await readRecoveryCode(code)).toHaveLength(16);
    let told = 0;
    for (let at = 0; at < code.length; at++) {
      if (code[at] === '-') continue;
      const mistyped = `${code.slice(0, at)}${code[at] === '7' ? '8' : '7'}${code.slice(at + 1)}`;
      const error = await readRecoveryCode(mistyped).catch((thrown: unknown) => thrown);
      if (error instanceof Error) told++;
      expect(leaks(Buffer.from(inspect(error)), [mistyped, code])).toBeUndefined();
    }
    // One in 4,096 has the right checksum.
    expect(told).toBeGreaterThanOrEqual(26);
    for (const wrong of ['', code.slice(0, -1), `${code}A`, code.replace(/^./, 'U'), 7]) await expect(readRecoveryCode(wrong)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('cannot begin a store', async () => {
    const engine = encrypted(new Disk(), fromRecoveryCode(await newRecoveryCode()));
    await expect(engine.open('m')).rejects.toMatchObject({ code: 'FORBIDDEN', data: { reason: 'no-such-key' } });
  });
});

describe('s14 device keys', () => {
  test('are made once, kept, and not extractable', async () => {
    const { disk, engine } = await made(deviceKey('laptop'));
    await engine.close();
    expect(await reads(disk, deviceKey('laptop'))).toBe('kept');
    await expect(reads(disk, deviceKey('phone'))).rejects.toMatchObject({ code: 'FORBIDDEN', data: { reason: 'wrong-device-key' } });
    const key = await deviceKey('laptop').wrapping(new Uint8Array(16), { memory: 0, iterations: 0 });
    await expect(crypto.subtle.exportKey('raw', key)).rejects.toThrow();
  });

  test('two made at once are one', async () => {
    const [one, other] = await Promise.all(['a', 'b'].map(() => deviceKey('shared').wrapping(new Uint8Array(16), { memory: 0, iterations: 0 })));
    expect(await unseal(other as CryptoKey, ['x'], await seal(one as CryptoKey, ['x'], Uint8Array.of(7)))).toEqual(Uint8Array.of(7));
  });

  test('stand beside a passphrase, and are taken away again', async () => {
    const { disk, engine } = await made(quick('p'));
    await engine.close();
    await expect(reads(disk, deviceKey())).rejects.toMatchObject({ code: 'FORBIDDEN', data: { reason: 'no-such-key', kinds: ['passphrase'] } });
    await engine.open('m');
    await engine.addKey(deviceKey());
    expect(await engine.keys()).toEqual(['passphrase', 'device']);
    await engine.close();
    expect(await reads(disk, deviceKey())).toBe('kept');
    await engine.open('m');
    await engine.removeKeys('device');
    await expect(engine.removeKeys('passphrase')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await engine.close();
    await expect(reads(disk, deviceKey())).rejects.toMatchObject({ code: 'FORBIDDEN', data: { reason: 'no-such-key' } });
  });

  test('need IndexedDB, and say so', async () => {
    vi.stubGlobal('indexedDB', undefined);
    await expect(made(deviceKey())).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message: expect.stringContaining('fromPassphrase') });
  });
});
