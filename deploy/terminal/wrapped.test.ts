import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { wrapped } from './wrapped.ts';

test('a text is broken between words', () => {
  expect(wrapped('no such key in the store', 11)).toEqual(['no such key', 'in the', 'store']);
});

test('a word that is wider than the terminal is broken where the terminal would break it', () => {
  const url = `https://${'x'.repeat(112)}`;
  expect(wrapped(`404 of ${url} today`, 80)).toEqual(['404 of', url.slice(0, 80), `${url.slice(80)} today`]);
  expect(wrapped('abcdef', 3)).toEqual(['abc', 'def']);
});

test('columns are counted, not characters', () => {
  expect(wrapped('日本 語イ', 6)).toEqual(['日本', '語イ']);
  expect(wrapped('日本語イメージ', 5)).toEqual(['日本', '語イ', 'メー', 'ジ']);
  expect(wrapped('\u001b[31mfailed\u001b[39m now', 10)).toEqual(['\u001b[31mfailed\u001b[39m now']);
});

test('a terminal of one column still gets every character', () => {
  expect(wrapped('日a', 1).every((line) => stringWidth(line) <= 2)).toBe(true);
  expect(wrapped('日a', 1).join('')).toBe('日a');
});
