import { expect, test } from 'vitest';
import { at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import type { Action } from '../actions.ts';
import { parsePolicy } from '../policy.ts';
import { attemptEnd } from './attempt-end.ts';

const image = aVMDiskImage({ spec: { diskSize: '2Gi' }, status: { phase: 'Syncing', startedAt: at(0) } });
const nowMs = start + 90_000;
const policy = parsePolicy({ data: { imageNamespaces: 'vmdi-farm\ngolden' } });
const points = (actions: readonly Action[]) =>
  Object.fromEntries(actions.map((action) => (action.do === 'measure' ? [action.metric, action] : [])));

test('an attempt counts once, with its time and at most its disk size', () => {
  expect(points(attemptEnd(image, { result: 'success', reason: 'Downloaded', nowMs, policy }))).toEqual({
    'ot.image.sync.attempts': expect.objectContaining({
      value: 1,
      attributes: { result: 'success', reason: 'Downloaded' },
    }),
    'ot.image.sync.duration': expect.objectContaining({ value: 90, attributes: { result: 'success' } }),
    'ot.image.download.estimated': expect.objectContaining({
      value: 2 * 2 ** 30,
      attributes: { result: 'success', image_namespace: 'vmdi-farm', requester: 'direct' },
    }),
  });
});

test('bytes have the namespaces of the policy and the kinds of requesters for labels, and no names that users make up', () => {
  const labels = { 'pelotech.ot/requested-by': 'vm', 'pelotech.ot/requested-by-namespace': 'lab' };
  const { status } = image;
  const ended = attemptEnd(aVMDiskImage({ namespace: 'lab', labels, ...(status ? { status } : {}) }), {
    result: 'failure',
    reason: 'NotFound',
    nowMs,
    policy,
  });
  expect(points(ended)['ot.image.download.estimated']).toMatchObject({
    attributes: { result: 'failure', image_namespace: 'others', requester: 'VirtualMachine' },
  });
});

test('an attempt that never started downloaded nothing', () => {
  const ended = attemptEnd(image, { result: 'failure', reason: 'NotStarted', nowMs, policy, isUnstarted: true });
  expect(Object.keys(points(ended))).toEqual(['ot.image.sync.attempts', 'ot.image.sync.duration']);
});

test('an attempt with an unknown start has no duration, and a start in the future gives none below 0', () => {
  const unknown = aVMDiskImage({ status: { phase: 'Syncing' } });
  const end = { result: 'failure', reason: 'ImportFailed', nowMs, policy } as const;
  expect(points(attemptEnd(unknown, end))['ot.image.sync.duration']).toBeUndefined();
  const ahead = aVMDiskImage({ status: { phase: 'Syncing', startedAt: at(1000) } });
  expect(points(attemptEnd(ahead, end))['ot.image.sync.duration']).toMatchObject({ value: 0 });
});
