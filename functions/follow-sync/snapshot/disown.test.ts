import { expect, test } from 'vitest';
import { parsePolicy } from '../../../shared/policy.ts';
import { aSnapshot, aVMDiskImage, start } from '../../../test/support/builders/images.ts';
import { decide } from '../decide.ts';
import type { Observed } from '../observed.ts';
import { disown } from './disown.ts';
import { snapshotFor } from './snapshot.ts';

const image = aVMDiskImage({ deleted: true, status: { phase: 'Succeeded', revision: 1 } });
const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'X', name: 'x', uid });
const ownedBy = (...uids: string[]) => {
  const made = aSnapshot(image, { ready: true });
  return { ...made, metadata: { ...made.metadata, ownerReferences: uids.map(owner) } };
};
const seen = (snapshot: ReturnType<typeof ownedBy>): Observed => ({
  nowMs: start,
  policy: parsePolicy(undefined),
  image,
  dataVolumes: [],
  pods: [],
  snapshots: [snapshot],
  isSnapshotGone: false,
  isAudit: false,
  isNamed: false,
  refusals: new Map(),
});

test('a snapshot is created without an owner: a foreground deletion of the image would delete it', () => {
  expect(snapshotFor(image, 1, 'claim').metadata).not.toHaveProperty('ownerReferences');
});

test('a snapshot of an earlier release loses the owner reference to its image, and no other', () => {
  expect(disown(seen(ownedBy('uid-ubuntu')))).toMatchObject([
    { do: 'patchMetadata', metadata: { ownerReferences: null } },
  ]);
  expect(decide(seen(ownedBy('uid-ubuntu', 'other')))).toMatchObject([
    { do: 'patchMetadata', metadata: { ownerReferences: [{ uid: 'other' }] } },
  ]);
  expect(disown(seen(ownedBy('other')))).toEqual([]);
  expect(disown(seen(ownedBy()))).toEqual([]);
});
