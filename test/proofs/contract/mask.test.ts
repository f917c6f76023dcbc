import { expect, test } from 'vitest';
import { Mask } from './mask.ts';

const now = Date.parse('2024-05-01T12:00:00Z');
const [one, two] = ['11111111-1111-1111-1111-111111111111', '22222222-2222-2222-2222-222222222222'];

test('the same uid is the same number, wherever it is met', () => {
  const mask = new Mask('ns', now);
  expect(mask.of({ uid: one, owner: two })).toEqual({ owner: '<uid 1>', uid: '<uid 2>' });
  expect(mask.text(`UID in object meta: ${two}`)).toBe('UID in object meta: <uid 1>');
});

test('times of this run are masked, others are not', () => {
  expect(new Mask('ns', now).of(['2024-05-01T11:59:59.5Z', '2020-01-01T00:00:00Z'])).toEqual([
    '<time>',
    '2020-01-01T00:00:00Z',
  ]);
});

test('versions, tokens, generated names and the namespace are masked, empty texts are not', () => {
  const object = {
    metadata: { resourceVersion: '12', continue: '', generateName: 'a-', name: 'a-x7b2c', namespace: 'ns-1' },
    status: { token: 'secret' },
    message: 'Too large resource version: 999, current: 12',
  };
  expect(new Mask('ns-1', now).of(object)).toEqual({
    metadata: { resourceVersion: '<version>', continue: '', generateName: 'a-', name: 'a-<random>', namespace: '{ns}' },
    status: { token: '<token>' },
    message: 'Too large resource version: 999, current: <version>',
  });
});

test('managedFields are one line for each manager, in order', () => {
  const entry = (manager: string, fieldsV1: unknown) => ({ manager, operation: 'Update', apiVersion: 'v1', fieldsV1 });
  const managedFields = [entry('b', { 'f:data': { '.': {}, 'f:x': {} } }), entry('a', { 'f:data': { 'f:y': {} } })];
  expect(new Mask('ns', now).of({ managedFields })).toEqual({
    managedFields: ['a Update v1 {data{y}}', 'b Update v1 {data{. x}}'],
  });
});
