import { expect, test } from 'vitest';
import manifest from '../extension/public/manifest.json';
import en from '../extension/public/_locales/en/messages.json';
import zh from '../extension/public/_locales/zh_CN/messages.json';
import { hostOf, keptAddress, listed } from '../extension/src/sites';

const sources = import.meta.glob<string>('../extension/src/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true });

test('the extension has each of its words in both languages, with the same places to fill', () => {
  expect(Object.keys(zh)).toEqual(Object.keys(en));
  for (const [key, { message }] of Object.entries(en)) {
    const chinese = zh[key as keyof typeof zh].message;
    expect(message.trim(), key).not.toBe('');
    expect(chinese.match(/\$\d/g), key).toEqual(message.match(/\$\d/g));
    if (key !== 'assistant') expect(chinese, key).toMatch(/[\u4e00-\u9fff]/);
  }
});

test('every word is used', () => {
  const all = Object.values(sources).join('\n') + JSON.stringify(manifest);
  const shown = ['chat', 'memories', 'settings'];
  expect(Object.keys(en).filter((key) => !shown.includes(key) && !all.includes(`'${key}'`) && !all.includes(`__MSG_${key}__`))).toEqual([]);
});

test('the manifest asks for no host, and nothing reaches storage.sync', () => {
  expect(manifest).not.toHaveProperty('host_permissions');
  expect(manifest).not.toHaveProperty('content_scripts');
  expect(manifest.permissions).not.toContain('tabs');
  expect(Object.entries(sources).filter(([, text]) => /storage\.sync\./.test(text)).map(([path]) => path)).toEqual([]);
});

test('a site is a host or an address of it, and covers its subdomains', () => {
  expect(['bank.example', ' https://Bank.example/a ', '*.bank.example', '127.0.0.1'].map(hostOf)).toEqual(['bank.example', 'bank.example', 'bank.example', '127.0.0.1']);
  expect(['', 'not a site', 'javascript:alert(1)', 'file:///etc'].map(hostOf)).toEqual([undefined, undefined, undefined, undefined]);
  expect(listed('https://my.bank.example/x', ['bank.example'])).toBe('bank.example');
  expect(listed('https://notbank.example/x', ['bank.example'])).toBeUndefined();
  expect(listed('', ['bank.example'])).toBeUndefined();
});

test('an address is kept without what may hold a key', () => {
  expect(keptAddress('https://ada:pw@news.example:8443/a?token=1#b')?.href).toBe('https://news.example:8443/a');
  for (const other of ['javascript:alert(1)', 'file:///etc/passwd', 'chrome://settings/', 'data:text/html,x', '', undefined]) expect(keptAddress(other)).toBeUndefined();
});
