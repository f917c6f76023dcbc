import { expect, test } from 'vitest';
import type { Message, Subject, Wake } from '../function.ts';
import { Conflict } from './errors.ts';
import { verdictOf } from './verdict.ts';

const object = (name: string) => ({ metadata: { namespace: 'lab', name, uid: `uid-${name}` } });
const failed = new Error('failed calling webhook');
const rivalled = new Conflict('the object has been modified');

/** Three machines that look at one another's addresses, the second of which could not be written; `c` has a disk. */
const machines = ['a', 'b', 'c'].map(object);
const [a, b, c] = machines;
const verdict = verdictOf([
  { observed: { machine: a, neighbours: machines, shared: object('policy') } },
  { observed: { machine: b, neighbours: machines, children: { pods: [object('b-pod')] } }, error: failed },
  { observed: { machine: c, neighbours: machines, disks: new Map([['c-disk', object('c-disk')]]) } },
  { observed: { ref: { namespace: 'lab', name: 'missing' } }, error: rivalled },
]);

const wake = (more: Partial<Wake>): Wake => ({ subjects: [], messages: [], sweep: false, audit: false, ...more });
const about = (name: string): Partial<Wake> => ({
  subjects: [{ apiVersion: 'v1', kind: 'Pod', namespace: 'lab', name } satisfies Subject],
});
const telling = (data: unknown): Partial<Wake> => ({ messages: [{ data } as Message] });

test.each([
  ['of an object that was done', about('a'), undefined],
  ['of the object that failed', about('b'), failed],
  ['of an object that the failed one only looked at', about('c'), undefined],
  ['of what belongs to the object that failed', about('b-pod'), failed],
  ['of what belongs to another', about('c-disk'), undefined],
  ['of an object that is missing', about('missing'), rivalled],
  ['of an object that nobody saw', about('gone'), failed],
  ['that tells of an object that was done', telling({ namespace: 'lab', name: 'a' }), undefined],
  ['that tells of the object that failed', telling({ namespace: 'lab', name: 'b' }), failed],
  ['that tells of nothing in particular', telling(undefined), failed],
  ['of a sweep', { sweep: true }, failed],
  ['of an audit', { audit: true }, failed],
] as const)('an event %s is answered by it', (_, event, error) => {
  expect(verdict(wake(event))).toBe(error);
});

test('no event is wanted again where all was done', () => {
  expect(verdictOf([{ observed: { machine: a } }])(wake(about('gone')))).toBeUndefined();
});

test('an object that two decisions are about is answered by both', () => {
  const twice = verdictOf([{ observed: { machine: a } }, { observed: { machine: a }, error: failed }]);
  expect(twice(wake(about('a')))).toBe(failed);
});
