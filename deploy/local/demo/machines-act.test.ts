import { expect, test } from 'vitest';
import { hasWaited } from './machines-act.ts';

test.each([
  [true, 'its image syncs', 'Provisioning', 'Waiting for VMDiskImage vmdi-farm/ubuntu: Syncing.'],
  [false, 'its disk is cloned', 'Provisioning', 'DataVolume lab/demo-root is being cloned.'],
  [false, 'it runs', 'Ready', 'The machine runs.'],
])('has waited for its image: %s where %s', (expected, _, phase, message) => {
  expect(hasWaited([{ phase, message, atMs: 0 }])).toBe(expected);
});
