import { expect, test } from 'vitest';
import { contentDigest } from '../../shared/images/content-digest.ts';
import type { VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { parsePolicy } from '../../shared/policy.ts';
import {
  aDataVolume,
  aHolder,
  aLease,
  at,
  aVMDiskImage,
  start,
  theirSecret,
} from '../../test/support/builders/images.ts';
import { decide, split } from './decide.ts';

const classes = { storage: new Map([['gp3', 'ebs']]), snapshot: new Map([['ebs-snapshot', 'ebs']]) };

/** The attempts that a pass counts for one image with this status. */
function counted(status: VMDiskImageStatus) {
  const image = aVMDiskImage({ status: { revision: 1, attempt: 1, attempts: 1, startedAt: at(0), ...status } });
  const actions = split({
    nowMs: start + 60_000,
    policy: parsePolicy({ data: {} }),
    policyMap: undefined,
    lease: aLease([aHolder(image)]),
    images: [image],
    unfinished: [image],
    dataVolumes: [aDataVolume(image)],
    pods: [],
    claims: [],
    snapshots: [],
    classes,
    inputs: theirSecret,
    refusals: new Map(),
    isAudit: false,
    gracePeriodMs: 0,
  }).flatMap(decide);
  return actions
    .filter((action) => action.do === 'measure')
    .map(({ metric, attributes }) => ({ metric, ...attributes }));
}

test('an attempt that a new revision ends is counted as superseded', () => {
  const downloading = { phase: 'Syncing', contentDigest: 'old', importer: { uid: 'pod-1', scratch: false } } as const;
  expect(counted(downloading)).toEqual([
    { metric: 'ot.image.sync.attempts', result: 'superseded', reason: 'NewRevision' },
    { metric: 'ot.image.sync.duration', result: 'superseded' },
    { metric: 'ot.image.download.estimated', result: 'superseded' },
  ]);
});

test('a new revision of an image that does not download ends no attempt', () => {
  expect(counted({ phase: 'Succeeded', contentDigest: 'old' })).toEqual([]);
  expect(counted({ phase: 'Syncing', contentDigest: contentDigest(aVMDiskImage()) })).toEqual([]);
});
