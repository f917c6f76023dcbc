import { expect, test } from 'vitest';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { refusedBy, withoutQuery } from './sources.ts';

const specOf = (url: string, more = {}) => aVMDiskImage({ spec: { url, ...more } }).spec;

test.each([
  ['*', 'https://anywhere.example/b/k', true],
  ['https://*.example.com/*', 'https://a.example.com/b/k', true],
  ['https://*.example.com/*', 'https://evil.com/a.example.com/b', false],
  ['https://*.example.com/*', 'https://a@evil.com/.example.com/b', false],
  ['https://h/images/*', 'https://h/images/k', true],
  ['https://h/images/*', 'https://h/images/../private/k', false],
  ['https://h/images/*', 'https://h.evil.com/images/k', false],
])('the glob %s lets %s in: %s', (glob, url, isAllowed) => {
  expect(refusedBy([glob], specOf(url)) === undefined).toBe(isAllowed);
});

test('a Secret for http needs a match closer than "*"', () => {
  const spec = specOf('https://h/k', { sourceType: 'http' });
  expect(refusedBy(['*'], spec)).toContain('more closely');
  expect(refusedBy(['*', 'https://h/*'], spec)).toBeUndefined();
});

test('a refusal tells no query', () => {
  expect(refusedBy(['https://h/*'], specOf('https://other/k?X-Amz-Signature=abc'))).not.toContain('abc');
  expect(withoutQuery('https://h/k?a=b#c')).toBe('https://h/k');
});
