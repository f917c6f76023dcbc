import { expect, test } from 'vitest';
import { at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import type { Action } from '../actions.ts';
import { attemptEnd } from './attempt-end.ts';

const image = aVMDiskImage({ spec: { diskSize: '2Gi' }, status: { phase: 'Syncing', startedAt: at(0) } });
const nowMs = start + 90_000;
const points = (actions: readonly Action[]) =>
  Object.fromEntries(actions.map((action) => (action.do === 'measure' ? [action.metric, action] : [])));

test('an attempt counts once, with its time and at most its disk size', () => {
  expect(points(attemptEnd(image, { result: 'success', reason: 'Downloaded', nowMs }))).toEqual({
    'ot.image.sync.attempts': expect.objectContaining({
      value: 1,
      attributes: { result: 'success', reason: 'Downloaded' },
    }),
    'ot.image.sync.duration': expect.objectContaining({ value: 90, attributes: { result: 'success' } }),
    'ot.image.download.estimated': expect.objectContaining({ value: 2 * 2 ** 30, attributes: { result: 'success' } }),
  });
});

test('an attempt that never started downloaded nothing', () => {
  const ended = attemptEnd(image, { result: 'failure', reason: 'NotStarted', nowMs, isUnstarted: true });
  expect(Object.keys(points(ended))).toEqual(['ot.image.sync.attempts', 'ot.image.sync.duration']);
});

test('an attempt with an unknown start has no duration, and a start in the future gives none below 0', () => {
  const unknown = aVMDiskImage({ status: { phase: 'Syncing' } });
  const end = { result: 'failure', reason: 'ImportFailed', nowMs } as const;
  expect(points(attemptEnd(unknown, end))['ot.image.sync.duration']).toBeUndefined();
  const ahead = aVMDiskImage({ status: { phase: 'Syncing', startedAt: at(1000) } });
  expect(points(attemptEnd(ahead, end))['ot.image.sync.duration']).toMatchObject({ value: 0 });
});
