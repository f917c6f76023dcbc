import { expect, test } from 'vitest';
import { recordedJson } from './recorded-json.ts';

const recording = { 'two exchanges': [{ status: 200, body: { lines: 'a\nb' } }, { status: 404 }], none: [] };

test('a recording is read back as it was', () => {
  expect(JSON.parse(recordedJson(recording))).toEqual(recording);
});

test('each exchange has a line of its own, whatever it holds', () => {
  const lines = recordedJson(recording).split('\n');
  expect(lines.filter((line) => line.includes('"status"'))).toHaveLength(2);
  expect(lines).toHaveLength(8);
});
