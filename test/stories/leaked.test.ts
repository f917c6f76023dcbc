import { expect, test } from 'vitest';
import { leaked } from './leaked.ts';

const word = '$6$salt$pw-of/ops.';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const cloudInit = (password: string) => `#cloud-config\nusers:\n  - plain_text_passwd: "${password}"\n`;

test.each([
  ['as it is', `found ${word}.`],
  ['in base64', base64(word)],
  ['in base64 with other text before and behind it', JSON.stringify({ data: { userdata: base64(cloudInit(word)) } })],
  ['in base64 that begins one letter further', `x${base64(cloudInit(word))}`],
  ['in base64 for URLs', Buffer.from(cloudInit(word)).toString('base64url')],
  ['in base64 of base64', base64(JSON.stringify({ data: base64(cloudInit(word)) }))],
  ['in base64 that was cut off', base64(cloudInit(word) + cloudInit('x')).slice(0, -7)],
])('a word is found %s', (_, text) => {
  expect(leaked(text, [word, 'another'])).toEqual([word]);
});

test('what is not there is not found', () => {
  expect(leaked(base64(cloudInit('x')), [word])).toEqual([]);
});
