import { expect, test } from 'vitest';
import { matches, matchesAny, patternOf } from './glob.ts';

const isMatch = (pattern: string, url: string) => {
  const parsed = patternOf(pattern);
  if (!parsed) throw new Error(`${pattern}: expected a pattern`);
  return matches(parsed, url);
};

test.each([
  ['https://s3.example.com/vm-images/**', 'https://s3.example.com/vm-images/a/b.qcow2'],
  ['https://s3.example.com/vm-images/**', 'https://S3.example.com:443/vm-images/a.qcow2?versionId=1'],
  ['https://s3.example.com/*/golden/*.qcow2', 'https://s3.example.com/any/golden/debian.qcow2'],
  ['https://*.example.com/**', 'https://a.b.example.com/x'],
  ['http://127.0.0.1:9000/**', 'http://127.0.0.1:9000/x'],
  ['docker://quay.io/containerdisks/**', 'docker://quay.io/containerdisks/fedora:40'],
  ['https://h.example/**/a/**', 'https://h.example/x/y/a/z'],
])('%s matches %s', (pattern, url) => {
  expect(isMatch(pattern, url)).toBe(true);
});

test.each([
  ['a part of one segment', 'https://s3.example.com/vm-images/*', 'https://s3.example.com/vm-images/a/b.qcow2'],
  [
    'a path that leads elsewhere',
    'https://s3.example.com/vm-images/**',
    'https://s3.example.com/vm-images/../private/a',
  ],
  ['the same, encoded', 'https://s3.example.com/vm-images/**', 'https://s3.example.com/vm-images/%2e%2e/private/a'],
  ['an encoded slash', 'https://s3.example.com/*/golden/*', 'https://s3.example.com/a%2Fb/golden/x'],
  ['another scheme', 'https://s3.example.com/**', 'http://s3.example.com/a'],
  ['another port', 'https://s3.example.com/**', 'https://s3.example.com:8443/a'],
  ['a host that ends alike', 'https://*.example.com/**', 'https://evilexample.com/a'],
  ['the domain itself', 'https://*.example.com/**', 'https://example.com/a'],
  ['a host behind a user', 'https://s3.example.com/**', 'https://s3.example.com@evil.example/a'],
  ['no URL', 'https://s3.example.com/**', 'vm-images/a'],
])('%s does not match', (_, pattern, url) => {
  expect(isMatch(pattern, url)).toBe(false);
});

test.each([
  '*',
  '**',
  '*://*',
  'https://*',
  'https://*/**',
  'https://s3.*.com/**',
  's3.example.com/**',
  'https://h',
  '',
  'https://u@h/**',
])('%j is no pattern', (text) => {
  expect(patternOf(text)).toBeUndefined();
});

test('a pattern of many stars takes no longer than the product of both lengths', () => {
  const stars = `https://s3.example.com${'/**a*'.repeat(95)}b`;
  expect(isMatch(stars, `https://s3.example.com/${'a/'.repeat(1012)}`)).toBe(false);
});

test('a star matches stars in the text, too', () => {
  for (const text of ['*', '*a', 'a*b*', '**']) expect(matchesAny(['*'], text, '/')).toBe(true);
  expect(matchesAny(['a*c', 'x**z'], 'a*b/c', '/')).toBe(false);
  expect(matchesAny(['x**z'], 'x*/*z', '/')).toBe(true);
  expect(isMatch('https://h.example/*/b', 'https://h.example/*a/b')).toBe(true);
});
