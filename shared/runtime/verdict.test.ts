import { expect, test, vi } from 'vitest';
import type { Batch, Message, Subject } from '../function.ts';
import { Conflict } from './errors.ts';
import { verdictOf } from './verdict.ts';

const object = (name: string) => ({ metadata: { namespace: 'lab', name, uid: `uid-${name}` } });
const failed = new Error('failed calling webhook');
const conflict = new Conflict('the object has been modified');

/** Three machines that read one another's addresses. The write of the second failed. `c` has a disk. */
const machines = ['a', 'b', 'c'].map(object);
const [a, b, c] = machines;
const verdict = verdictOf([
  { observed: { machine: a, neighbours: machines, shared: object('policy') } },
  { observed: { machine: b, neighbours: machines, children: { pods: [object('b-pod')] } }, error: failed },
  { observed: { machine: c, neighbours: machines, disks: new Map([['c-disk', object('c-disk')]]) } },
  { observed: { ref: { namespace: 'lab', name: 'missing' } }, error: conflict },
]);

const batch = (more: Partial<Batch>): Batch => ({ subjects: [], messages: [], sweep: false, audit: false, ...more });
const about = (name: string): Partial<Batch> => ({
  subjects: [{ apiVersion: 'v1', kind: 'Pod', namespace: 'lab', name } satisfies Subject],
});
const telling = (data: unknown): Partial<Batch> => ({ messages: [{ data } as Message] });

test.each([
  ['about an object that succeeded', about('a'), undefined],
  ['about the object that failed', about('b'), failed],
  ['about an object that the failed decision only read', about('c'), undefined],
  ['about a child of the object that failed', about('b-pod'), failed],
  ['about a child of another object', about('c-disk'), undefined],
  ['about a missing object', about('missing'), conflict],
  ['about an object that no decision read', about('gone'), failed],
  ['that names an object that succeeded', telling({ namespace: 'lab', name: 'a' }), undefined],
  ['that names the object that failed', telling({ namespace: 'lab', name: 'b' }), failed],
  ['that names no object', telling(undefined), failed],
  ['of a sweep', { sweep: true }, failed],
  ['of an audit', { audit: true }, failed],
] as const)('an event %s gets its verdict', async (_, event, error) => {
  expect(await verdict(batch(event))).toBe(error);
});

test('no event is redelivered if every decision succeeded', async () => {
  expect(await verdictOf([{ observed: { machine: a } }])(batch(about('gone')))).toBeUndefined();
});

test('two decisions about one object answer together', async () => {
  const twice = verdictOf([{ observed: { machine: a } }, { observed: { machine: a }, error: failed }]);
  expect(await twice(batch(about('a')))).toBe(failed);
});

test('an event waits for what is performed beside the next reconciles only if that is about its object; a timer waits for all', async () => {
  const { promise: other } = Promise.withResolvers<never>();
  const mine = Promise.resolve({ observed: { machine: b }, error: failed });
  const mixed = verdictOf(
    [{ observed: { machines: [a, b] } }],
    new Map([
      ['lab/b', mine],
      ['lab/c', other],
    ]),
  );
  expect(await mixed(batch(about('b')))).toBe(failed);
  expect(await mixed(batch(about('a')))).toBeUndefined();
  const settled = vi.fn();
  void mixed(batch({ sweep: true })).then(settled);
  await new Promise((resolve) => setImmediate(resolve));
  expect(settled).not.toHaveBeenCalled();
});
