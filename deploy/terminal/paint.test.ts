import { describe, expect, test } from 'vitest';
import { barOf } from './bar.ts';
import { cutTo, lineOf, styled, textOf } from './paint.ts';
import { phaseSpan } from './phase-style.ts';
import { formatBytes, formatSeconds } from './quantities.ts';

const plain = { columns: 80, colour: false };

test.each([
  ['fits', 'ubuntu', 6, 'ubuntu'],
  ['is cut with an ellipsis', 'ubuntu', 4, 'ubu…'],
  ['has one column', 'ubuntu', 1, '…'],
  ['has no column', 'ubuntu', 0, ''],
  ['is cut between characters, not between their halves', '🐧🐧🐧', 3, '🐧…'],
])('a text that %s', (_, text, columns, expected) => {
  expect(cutTo(text, columns)).toBe(expected);
});

describe('a line', () => {
  test('is cut across its pieces', () => {
    expect(lineOf(['abc', 'def', 'ghi'], { ...plain, columns: 5 })).toBe('abcd…');
  });
  test('has colours only where they are wanted, and they take no columns', () => {
    const spans = ['a ', styled('red', 'failed')];
    expect(lineOf(spans, plain)).toBe('a failed');
    expect(lineOf(spans, { columns: 8, colour: true })).toBe('a \u001b[31mfailed\u001b[39m');
  });
  test.each([
    ['moves the cursor', 'no such key\u001b[2J\u001b[H', 'no such key [2J [H'],
    ['breaks lines', 'NoSuchKey\n\tstatus code: 404', 'NoSuchKey status code: 404'],
    ['turns the direction of writing', 'abc\u202edef', 'abc def'],
  ])('keeps out what %s', (_, text, expected) => {
    expect(textOf(text)).toBe(expected);
  });
});

test.each([
  [0, '░░░░'],
  [0.5, '██░░'],
  [1, '████'],
  [1.7, '████'],
  [-1, '░░░░'],
])('a bar of %s', (share, expected) => {
  expect(barOf(share, 4)).toBe(expected);
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1 kB'],
  [999_499, '999 kB'],
  [999_500, '1.0 MB'],
  [3_140_000, '3.1 MB'],
  [24e9, '24.0 GB'],
])('%s bytes are written as %s', (bytes, expected) => {
  expect(formatBytes(bytes)).toBe(expected);
});

test('seconds have one decimal and are never below zero', () => {
  expect([formatSeconds(3210), formatSeconds(-5)]).toEqual(['3.2s', '0.0s']);
});

test('an image that no function has looked at yet is New', () => {
  expect(textOf(phaseSpan(''))).toBe('New');
});
