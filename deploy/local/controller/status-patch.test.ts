import { expect, test } from 'vitest';
import { mergePatch } from '../api-server/patch.ts';
import { statusPatch } from './status-patch.ts';

const withTimes = (times: object) => ({ phase: 'Running', conditions: [{ type: 'Ready', ...times }] });
const after = withTimes({ lastProbeTime: null });
const kept = withTimes({});

test.each([
  ['a first status', undefined],
  ['a field that changes', { ...kept, phase: 'Scheduled' }],
  ['a field that goes', { ...kept, reason: 'Waiting' }],
  ['a condition that changes', { ...kept, conditions: [{ type: 'Ready', status: 'False' }] }],
])('%s is written once, though the server drops nulls', (_, before) => {
  const written = mergePatch(before, statusPatch(before, after));
  expect(written).toEqual(kept);
  expect(statusPatch(written as object, after)).toBeUndefined();
});
