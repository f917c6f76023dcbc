import { describe, expect, test } from 'vitest';
import type { DeadLetter } from '../../shared/function.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Trigger } from '../../shared/kinds/eventing/trigger.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { start } from '../../test/support/builders/images.ts';
import { decide, eventNameOf, groupsOf, type Observed } from './decide.ts';

const letter = (more: Partial<DeadLetter> = {}): DeadLetter => ({
  id: 'e-1',
  type: 'ot.pelotech.image.published.v1',
  source: 'https://ci.example/42',
  subject: undefined,
  about: undefined,
  failed: 'preload',
  code: '400',
  faults: undefined,
  ...more,
});
const ofImage = letter({
  type: 'dev.knative.apiserver.ref.update',
  source: 'https://10.96.0.1:443',
  about: { apiVersion: 'pelotech.ot/v1alpha1', kind: 'VMDiskImage', namespace: 'lab', name: 'ubuntu' },
  code: '503',
});
const ofTimer = letter({
  type: 'dev.knative.sources.ping',
  source: '/apis/v1/namespaces/sync-operator/pingsources/sweep',
  code: undefined,
});
const trigger = Trigger.parse({ metadata: { name: 'preload', namespace: 'sync-operator', uid: 'uid-t' } });

function reconcile(letters: readonly DeadLetter[], more: Partial<Observed> = {}) {
  const [group] = groupsOf(letters, new Set(['preload']));
  if (!group) throw new Error('expected a group of letters');
  return decide({ ...group, about: trigger, recorded: undefined, nowMs: start, refusals: new Map(), ...more });
}

const eventIn = (actions: ReturnType<typeof reconcile>) =>
  actions.map((action) => action.do === 'apply' && action.object).find(Boolean) as Record<string, unknown>;

describe('letters', () => {
  test('that are alike are one count and one Event', () => {
    const actions = reconcile([letter(), letter({ id: 'e-2' })]);
    expect(actions).toMatchObject([
      { do: 'measure', metric: 'ot.dead.letters', value: 2, attributes: { function: 'preload', event: 'message' } },
      { do: 'apply', resource: { kind: 'Event' } },
    ]);
    expect(eventIn(actions)).toMatchObject({
      metadata: { namespace: 'sync-operator' },
      involvedObject: { kind: 'Trigger', name: 'preload', uid: 'uid-t' },
      type: 'Warning',
      reason: 'DeadLetter',
      count: 2,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
    });
  });
  test('like earlier ones raise the count of their Event and keep its first time', () => {
    const recorded = Event.parse({ metadata: { name: 'x' }, count: 40, firstTimestamp: '2025-12-31T23:00:00Z' });
    expect(eventIn(reconcile([letter()], { recorded }))).toMatchObject({
      count: 41,
      firstTimestamp: '2025-12-31T23:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      message: expect.stringMatching(/^41 times, last: preload answered 400/),
    });
  });
  test('by thousands and of many kinds come to a group for each function, code and kind of event, most of them first', () => {
    const codes = ['400', '503', undefined];
    const many = Array.from({ length: 6000 }, (_, i) => letter({ id: `e-${i}`, code: codes[i % 2] }));
    const groups = groupsOf([ofTimer, ...many, ofImage, letter({ failed: 'follow-sync' })], new Set(['preload']));
    expect(groups.map(({ failed, tells, code, letters }) => [failed, tells, code, letters.length])).toEqual([
      ['preload', 'message', '400', 3000],
      ['preload', 'message', '503', 3000],
      ['preload', 'timer', undefined, 1],
      ['preload', 'object', '503', 1],
      ['unknown', 'message', '400', 1],
    ]);
  });
  test('with names that no Trigger has are counted as one, whatever they are', () => {
    const letters = Array.from({ length: 50 }, (_, i) => letter({ failed: `made-up-${i}` }));
    expect(groupsOf(letters, new Set(['preload']))).toMatchObject([{ failed: 'unknown' }]);
  });
  test('that cannot be shown are still counted', () => {
    expect(reconcile([letter()], { about: undefined }).map(({ do: verb }) => verb)).toEqual(['measure']);
  });
  test('are counted once where the API server refused their Event and the reconcile is made again', () => {
    expect(
      reconcile([letter()], {
        refusals: new Map([['x', { reason: 'Forbidden', message: 'the namespace is being terminated' }]]),
      }),
    ).toEqual([]);
  });
});

test('an Event has one name for one like, and others for other functions, codes and kinds of event', () => {
  const nameOf = (of: DeadLetter, about: KubernetesObject = trigger) => {
    const [group] = groupsOf([of], new Set(['preload']));
    return group && eventNameOf(group, about);
  };
  expect(nameOf(letter({ id: 'e-2', source: 'x' }))).toBe(nameOf(letter()));
  const others = [letter({ code: '413' }), letter({ failed: 'prune' }), ofImage, ofTimer].map((of) => nameOf(of));
  expect(new Set([nameOf(letter()), ...others]).size).toBe(5);
});

test.each([
  [
    'a message',
    letter(),
    'preload answered 400 to ot.pelotech.image.published.v1 from https://ci.example/42 (event e-1). It is lost unless its sender posts it again. See the log of preload for what was wrong.',
  ],
  [
    'what was wrong with a message, if its function said so',
    letter({ faults: 'data.name: expected letters; data: Unrecognized key: "secretRef"' }),
    '(event e-1): data.name: expected letters; data: Unrecognized key: "secretRef". It is lost unless its sender posts it again, corrected.',
  ],
  [
    'nothing that a subscriber of others said',
    letter({ failed: 'gone', faults: 'hush' }),
    '(event e-1). No other subscriber takes it.',
  ],
  ['a message with a subject', letter({ subject: 'ubuntu' }), 'from https://ci.example/42 about ubuntu (event e-1)'],
  [
    'a change of an object',
    ofImage,
    'preload answered 503 to a change of VMDiskImage lab/ubuntu (event e-1). The next sweep or audit looks at it again.',
  ],
  ['no answer', ofTimer, 'preload gave no answer (timeout or no connection) to the timer sweep (event e-1).'],
  ['a name without a Trigger', letter({ failed: 'gone' }), 'gone, whose Trigger does not exist, answered 400 to'],
  ['an unnamed one', letter({ failed: undefined }), 'an unnamed subscriber answered 400 to'],
])('the Event names %s', (_, of, words) => {
  expect(eventIn(reconcile([of])).message).toContain(words);
});

test('the message of an Event is never longer than Kubernetes takes, and names event, source and fault however long they are', () => {
  const long = (text: string) => text + 'x'.repeat(253);
  const attributes = { id: long('id'), type: long('type'), source: long('source'), subject: long('subject') };
  const message = eventIn(reconcile([letter({ ...attributes, faults: long('data.name: ').repeat(3) })]))
    .message as string;
  expect(message.length).toBeLessThanOrEqual(1024);
  for (const part of ['idxxx', 'from sourcexxx', ': data.name: xxx', 'posts it again']) expect(message).toContain(part);
});
