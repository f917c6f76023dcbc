import { expect, test } from 'vitest';
import { Accepted } from './accept.ts';
import { differences } from './differences.ts';

test('a difference is reported as deep as possible', () => {
  const recorded = [{ status: 200, body: { a: 1, b: [1, 2], c: [1] } }];
  const found = [{ status: 200, body: { a: 2, b: [1, 3], c: [1, 2], d: null } }];
  expect(differences(recorded, found)).toEqual([
    { at: '0.body.a', recorded: 1, found: 2 },
    { at: '0.body.b.1', recorded: 2, found: 3 },
    { at: '0.body.c', recorded: [1], found: [1, 2] },
    { at: '0.body.d', recorded: undefined, found: null },
  ]);
});

const deviation = (...paths: string[]) => [{ what: 'w', reason: 'r', where: { 'a case': paths } }];
const at = (...paths: string[]) => paths.map((path) => ({ at: path, recorded: 1, found: 2 }));

test('a deviation allows its own paths of its own case and nothing else', () => {
  const accepted = new Accepted(deviation('*.body.message', '2.**managedFields**'));
  expect(accepted.refused('a case', at('0.body.message', '2.body.items.0.managedFields.1', '0.body.messages'))).toEqual(
    at('0.body.messages'),
  );
  expect(accepted.refused('another', at('0.body.message'))).toHaveLength(1);
});

test('an unused deviation is reported', () => {
  const accepted = new Accepted(deviation('0.body.a', '0.body.b'));
  accepted.refused('a case', at('0.body.a'));
  expect(accepted.unused()).toEqual(['a case: 0.body.b']);
});
