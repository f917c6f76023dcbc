import { describe, expect, test } from 'vitest';
import { contentDigest } from '../../shared/images/content-digest.ts';
import { holdersOf } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import type { VMDiskImage, VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { aDataVolume, aHolder, aLease, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { only, startSyncOf } from '../../test/support/harness/image-decisions.ts';

/** What a reconcile 10 s after all were queued does: the phases that it writes, who gets a slot, and what is looked at again when. */
function reconcile(images: readonly VMDiskImage[], data: Record<string, string> = {}, afterSeconds = 10) {
  const actions = startSyncOf(images, { nowMs: start + afterSeconds * 1000, policy: parsePolicy({ data }) });
  const written = only(actions, 'patchStatus');
  return {
    phases: written.filter(({ status }) => status.phase).map(({ of, status }) => `${of.metadata.name} ${status.phase}`),
    last: written.at(-1)?.status,
    slots: only(actions, 'replace').flatMap(({ object }) =>
      (holdersOf(Lease.parse(object)) ?? []).map(({ image }) => image),
    ),
    again: only(actions, 'requeueAfter').map(({ about, afterMs }) => `${about.metadata.name} ${afterMs / 1000}`),
  };
}

/** A queued image and what the inspection of its source found for this place in the queue, or for another. */
function queued(name: string, reason?: string, more: VMDiskImageStatus & { placeOfVerdict?: string } = {}) {
  const { placeOfVerdict, ...status } = more;
  const queuedAt = status.queuedAt ?? at(0);
  const verdict = {
    source: { inspectedAt: at(1), queuedAt: placeOfVerdict ?? queuedAt },
    conditions: [
      {
        ...{ type: 'SourceInspected', status: 'False' as const, reason: reason ?? '', message: 'No such object.' },
        lastTransitionTime: at(1),
        observedGeneration: 1,
      },
    ],
  };
  return aVMDiskImage({
    name,
    status: {
      ...{ phase: 'Queued', revision: 1, attempt: 0, attempts: 0, queuedAt },
      contentDigest: contentDigest(aVMDiskImage({ name })),
      ...(reason === undefined ? {} : verdict),
      ...status,
    },
  });
}

describe('an image whose source is not inspected yet', () => {
  test('gets no slot, keeps none behind it waiting, and is looked at when inspectTimeout is over', () => {
    const found = reconcile([queued('first'), queued('second', 'Inspected', { queuedAt: at(1) })]);
    expect(found.slots).toEqual(['vmdi-farm/second']);
    expect(found.phases).toEqual(['second Syncing']);
    expect(found.again).toEqual(['first 20']);
  });

  test('syncs uninspected after that, and its condition says why', () => {
    const found = reconcile([queued('first')], {}, 30);
    expect(found.phases).toEqual(['first Syncing']);
    expect(found.last?.message).toBe(
      'Waiting for the importer, attempt 1. Its source was not inspected within 30s (inspectTimeout).',
    );
  });

  test('waits from when it was queued, not from its place: it may have been created long before', () => {
    const late = queued('late', undefined, { history: [{ time: at(8), fact: 'Queued', message: '' }] });
    expect(reconcile([late])).toMatchObject({ phases: [], again: ['late 28'] });
  });

  test('waits for nothing if the policy wants no inspection', () => {
    expect(reconcile([queued('first')], { inspectTimeout: '0s' }).phases).toEqual(['first Syncing']);
  });

  test.each([
    ['Inspected', ['x Syncing']],
    ['UnknownFormat', ['x Syncing']],
    ['NotInspected', ['x Syncing']],
    ['SourceUnreachable', []],
  ])('is not one with the verdict %s', (reason, phases) => {
    expect(reconcile([queued('x', reason)]).phases).toEqual(phases);
  });

  test('is one whose verdict is of an earlier place in the queue', () => {
    expect(reconcile([queued('x', 'SourceMissing', { placeOfVerdict: at(-50) })]).phases).toEqual([]);
  });
});

test('an image whose source cannot be reached says so at once, and no longer at the sweep after it was', () => {
  const away = queued('away', 'SourceUnreachable');
  const reported = reconcile([away]).last;
  expect(reported).toMatchObject({
    message: 'No such object.',
    conditions: [{ type: 'Ready', reason: 'SourceUnreachable' }, { type: 'Reconciling' }, { type: 'SourceInspected' }],
  });
  expect(reconcile([away], { concurrency: '0' }).last?.message).toContain('paused');
  const status = { ...away.status, ...reported } as VMDiskImageStatus;
  expect(reconcile([{ ...away, status }]).last).toBeUndefined();
  const conditions = [
    ...(status.conditions ?? []).slice(0, 2),
    ...(queued('back', 'Inspected').status?.conditions ?? []),
  ];
  const busy = aVMDiskImage({ name: 'busy', status: { phase: 'Syncing', revision: 1, attempt: 1, attempts: 1 } });
  const held = { lease: aLease([aHolder(busy)]), dataVolumes: [aDataVolume(busy)] };
  const swept = startSyncOf([{ ...away, status: { ...status, conditions } }, busy], {
    ...{ ...held, data: { concurrency: '1' }, isTimed: true },
  });
  expect(only(swept, 'patchStatus').find(({ of }) => of.metadata.name === 'away')).toMatchObject({
    status: { conditions: [{ reason: 'Queued' }, { reason: 'Queued' }, { reason: 'Inspected' }] },
  });
});

test.each(['SourceMissing', 'SourceForbidden', 'NotAnImage', 'ImageTruncated', 'DiskTooSmall', 'BackingFile'])(
  'what can never work (%s) fails without a slot, and counts no attempt',
  (reason) => {
    const found = reconcile([queued('bad', reason)]);
    expect(found).toMatchObject({ phases: ['bad Failed'], slots: [] });
    expect(found.last).toMatchObject({ message: 'No such object.' });
    expect(found.last).not.toHaveProperty('attempts');
  },
);

describe('an image that Failed for its source', () => {
  const failed = (reason: string, generation: number, verdict = reason) => {
    const { metadata, ...image } = queued('bad', verdict, { phase: 'Failed' });
    const ready = { type: 'Ready', status: 'False' as const, reason, message: '', lastTransitionTime: at(2) };
    const stalled = { ...ready, type: 'Stalled', status: 'True' as const };
    const conditions = [...(image.status?.conditions ?? []), ready, stalled];
    return { ...image, metadata: { ...metadata, generation }, status: { ...image.status, conditions } } as VMDiskImage;
  };

  test('is queued again once its spec is another, and inspected again', () => {
    expect(reconcile([failed('SourceForbidden', 1)]).phases).toEqual([]);
    const healed = reconcile([failed('SourceForbidden', 2)]);
    expect(healed.phases).toEqual(['bad Queued']);
    expect(healed.last?.queuedAt).not.toBe(at(0));
  });

  test('is not one whose attempt failed for the same reason, which cost a download', () => {
    expect(reconcile([failed('DiskTooSmall', 2, 'Inspected')]).phases).toEqual([]);
  });
});
