import { expect, test } from 'vitest';
import { oneLine } from './sentence.ts';

test.each([
  ['line breaks', ' NoSuchKey\n\tstatus code: 404\u2028', 'NoSuchKey status code: 404'],
  ['what commands a terminal', '404 \u001b]0;root\u0007\u001b[2J\u009b1A gone', '404 ]0;root [2J 1A gone'],
  ['what turns the direction of writing', 'abc\u202edef\u2066\u200f', 'abc def'],
  ['what no one sees', 'pay\u200bload\ufeff\u{e0041}', 'pay load'],
])('a text on one line has no %s', (_, text, expected) => {
  expect(oneLine(text)).toBe(expected);
});

test.each([
  ['an emoji', '👩\u200d🚀'],
  ['a word', 'می\u200cخواهم'],
])('%s keeps its joiners', (_, text) => {
  expect(oneLine(text)).toBe(text);
});
