import { expect, test } from 'vitest';
import { aVMDiskImage, start } from '../../test/support/builders/images.ts';
import type { Action } from '../actions.ts';
import type { Phase } from '../kinds/pelotech/vm-disk-image.ts';
import { recordEvent, redactMessage } from '../kubernetes/events.ts';
import { repeated } from '../reasons/reason.ts';
import { imageFactsBy, reportWhy, transition } from './status.ts';

test('a message of any length fits the schema, in status, condition and history', () => {
  const snapshot = { name: 's', revision: 1 };
  const image = aVMDiskImage({ status: { phase: 'Syncing', revision: 2, snapshot } });
  const [patch] = transition(image, { to: 'Failed', reason: 'ImportFailed', message: 'x'.repeat(9000), nowMs: start });
  const status = (patch as unknown as { status: { message: string; conditions: { message: string }[] } }).status;
  expect(status.message.length).toBeLessThanOrEqual(4096);
  expect(status.conditions[0]?.message.length).toBeLessThanOrEqual(4096);
});

test('a message is one line, in status, condition, history and Event: kubectl prints no more than the first', () => {
  const image = aVMDiskImage({ status: { phase: 'Syncing', revision: 1 } });
  const message = 'send request failed\ncaused by: no such host\n';
  const [patch, event] = transition(image, { to: 'Retrying', reason: 'ImportFailed', message, nowMs: start });
  const line = 'send request failed caused by: no such host';
  expect(patch).toMatchObject({
    status: { message: line, conditions: [{ message: line }, { message: line }], history: [{ message: line }] },
  });
  expect(event).toMatchObject({ do: 'recordEvent', message: line });
  expect(reportWhy(image, { reason: 'Queued', message, nowMs: start })).toMatchObject([
    { status: { message: line, conditions: [{ message: line }, { message: line }] } },
    { do: 'recordEvent', message: line },
  ]);
  expect(recordEvent(image, true, 'PublishedImageRefused', 'conflicts:\n- .spec.url', '1')).toMatchObject({
    message: 'conflicts: - .spec.url',
  });
});

test('a signed URL in a message of CDI is reported without its signature', () => {
  const words = 'Get "https://h/b/k?X-Amz-Signature=abc&x=1": dial tcp: refused';
  expect(redactMessage(words)).toBe('Get "https://h/b/k": dial tcp: refused');
  expect(redactMessage('Get https://h/k;jsessionid=abc; try again')).toBe('Get https://h/k try again');
  expect(redactMessage('It is at https://h/k; try again')).toBe('It is at https://h/k; try again');
});

test('a condition that stays True says of what', () => {
  const image = aVMDiskImage({ status: { phase: 'Syncing', revision: 2, snapshot: { name: 's', revision: 1 } } });
  const [patch] = transition(image, { to: 'Retrying', reason: 'ImportFailed', message: 'cut off.', nowMs: start });
  expect(patch).toMatchObject({
    status: { conditions: [{ status: 'True', message: 'The snapshot of revision 1 is usable. cut off.' }, {}] },
  });
});

test('its history keeps the last ten facts', () => {
  const history = Array.from({ length: 10 }, (_, index) => ({ time: '', fact: 'Syncing', message: `${index}` }));
  const image = aVMDiskImage({ status: { phase: 'Syncing', revision: 1, history } });
  const [patch] = transition(image, { to: 'Retrying', reason: 'ImportFailed', message: 'last', nowMs: start });
  const { status } = patch as unknown as { status: { history: { message: string }[] } };
  expect(status.history.map(({ message }) => message)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', 'last']);
});

test('each transition is an event of its own, and a repeat of one is not', () => {
  const image = aVMDiskImage({ status: { phase: 'Syncing', revision: 1 } });
  const idAt = (nowMs: number) => {
    const actions = transition(image, { to: 'Retrying', reason: 'ImportFailed', message: 'cut off.', nowMs });
    return actions.find((action) => action.do === 'publish')?.id;
  };
  expect(idAt(start)).toMatch(/./);
  expect(idAt(start)).toBe(idAt(start));
  expect(idAt(start + 60_000)).not.toBe(idAt(start));
});

test('the events of an image are rebuilt from its history, each by the function that published it', () => {
  const steps = ['Queued', 'Syncing', 'Retrying', 'Queued', 'Syncing', 'Snapshotting', 'Succeeded'] as const;
  let image = aVMDiskImage();
  const published: Action[] = [];
  for (const [index, to] of steps.entries()) {
    const actions = transition(image, {
      to,
      reason: repeated(`Reason${index}`),
      message: 'why',
      nowMs: start + index * 1000,
    });
    const status = actions.flatMap((action) => (action.do === 'patchStatus' ? [action.status] : []));
    image = { ...image, status: Object.assign({ ...image.status }, ...status) };
    published.push(...actions.filter((action) => action.do === 'publish'));
  }
  const withoutObject = (actions: readonly Action[]) => actions.map((action) => ({ ...action, about: undefined }));
  const by = (name: string) => withoutObject(imageFactsBy(name).of(image));
  const isOfFollowSync = (action: Action) => action.do === 'publish' && /retrying|succeeded/.test(action.type);
  expect(by('follow-sync')).toEqual(withoutObject(published.filter(isOfFollowSync)));
  expect(by('start-sync')).toEqual(withoutObject(published.filter((action) => !isOfFollowSync(action))));
  expect(published).toHaveLength(6);
});

test('an entry of a history without a revision, as earlier releases wrote it, is no event', () => {
  const history = [{ time: '2026-01-01T00:00:00Z', fact: 'Queued', message: 'why' }];
  expect(imageFactsBy('start-sync').of(aVMDiskImage({ status: { phase: 'Queued', history } }))).toEqual([]);
});

const typesIn = (actions: readonly Action[]) =>
  actions.flatMap((action) =>
    action.do === 'patchStatus' ? (action.status.conditions as { type: string }[]).map(({ type }) => type) : [],
  );

test.each<[Phase, string[]]>([
  ['Queued', ['Ready', 'Reconciling']],
  ['Syncing', ['Ready', 'Reconciling']],
  ['Snapshotting', ['Ready', 'Reconciling']],
  ['Retrying', ['Ready', 'Reconciling']],
  ['Succeeded', ['Ready']],
  ['Failed', ['Ready', 'Stalled']],
])(
  'an image that becomes %s has the conditions %j, whatever it had: kstatus reads the others before Ready',
  (to, types) => {
    const said = { status: 'True' as const, reason: 'x', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const conditions = ['Reconciling', 'Stalled'].map((type) => ({ type, ...said }));
    const image = aVMDiskImage({ status: { phase: 'Syncing', revision: 1, conditions } });
    expect(typesIn(transition(image, { to, reason: 'Queued', message: 'why.', nowMs: start }))).toEqual(types);
  },
);
