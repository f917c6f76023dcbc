import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide as countRefs } from '../../functions/count-refs/decide.ts';
import { decide as followSync } from '../../functions/follow-sync/decide.ts';
import { decide as inspectSource } from '../../functions/inspect-source/decide.ts';
import type { Inspection } from '../../functions/inspect-source/observed.ts';
import { decide as prune } from '../../functions/prune/decide.ts';
import { split, decide as startSync } from '../../functions/start-sync/decide.ts';
import type { Donors } from '../../functions/start-sync/slots/donors.ts';
import { loadFunctions } from '../../knative/functions.ts';
import type { Action } from '../../shared/actions.ts';
import { dataVolumeName, snapshotName } from '../../shared/images/children.ts';
import { contentDigest } from '../../shared/images/content-digest.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import {
  adoptSnapshot,
  phases,
  transitions,
  VMDiskImage,
  type VMDiskImageStatus,
} from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { refusalKey } from '../../shared/kubernetes/refusal.ts';
import { parsePolicy } from '../../shared/policy.ts';
import {
  aDataVolume,
  aHolder,
  aLease,
  anImporter,
  aSnapshot,
  at,
  aVMDiskImage,
  start,
  theirSecret,
} from '../support/builders/images.ts';
import { aVirtualMachine } from '../support/builders/machines.ts';

const some = fc.constantFrom;
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const nowMs = start + 3_600_000;

/** Any status that a function may find, likely or not. */
const anyStatus = fc.record(
  {
    phase: some(undefined, ...phases),
    revision: some(1, 2),
    attempt: some(0, 1, 2, 3),
    attempts: some(0, 1, 3, 4),
    contentDigest: some('as the spec', 'as the spec', 'another'),
    queuedAt: some(at(0), at(5)),
    nextAttemptAt: maybe(some(at(0), at(7200))),
    startedAt: some(at(3590), at(0), at(-100_000)),
    snapshottingAt: maybe(some(at(3590), at(-100_000))),
    dataVolume: maybe(some('current', 'other')),
    importer: maybe(fc.record({ uid: some('pod-1', 'pod-0'), scratch: fc.boolean() })),
    snapshot: maybe(fc.record({ name: some('current', 'other'), revision: some(1, 2) })),
    adoption: maybe(fc.record({ snapshot: some('golden', 'silver'), revision: some(1, 2) })),
    sharedFrom: maybe(some({ image: 'b', snapshot: 'b-r1' })),
    source: maybe(some({ content: 'content', inspectedAt: at(1), queuedAt: at(0) })),
    references: maybe(fc.record({ count: some(0, 1) })),
    reason: some('Queued', 'SourceNotAllowed', 'StorageClassMissing', 'DriverMismatch', 'Forbidden', 'NotFound'),
    isLost: fc.boolean(),
  },
  { requiredKeys: ['phase', 'contentDigest', 'reason', 'isLost'] },
);

/** An image of that name in any state, its status as full or as garbled as it may be. */
const anyImage = (name: string) =>
  fc
    .record({
      status: anyStatus,
      deleted: some(false, false, false, true),
      storageClass: some('gp3', 'gp3', 'gone'),
      adopts: some(undefined, undefined, 'golden'),
    })
    .map(({ status: { reason, isLost, phase, ...status }, deleted, storageClass, adopts }) => {
      const annotations = adopts ? { [adoptSnapshot]: adopts } : {};
      const plain = aVMDiskImage({ name, annotations, spec: { storageClass } });
      const { revision = 1, attempt = 0 } = status;
      const condition = (type: string, is: boolean) => ({
        type,
        status: is ? 'True' : 'False',
        reason,
        message: '',
        lastTransitionTime: at(0),
      });
      const names = {
        ...(status.dataVolume === 'current' ? { dataVolume: dataVolumeName(plain.metadata, revision, attempt) } : {}),
        ...(status.snapshot?.name === 'current'
          ? { snapshot: { ...status.snapshot, name: snapshotName(plain.metadata, status.snapshot.revision) } }
          : {}),
        ...(status.contentDigest === 'another' ? {} : { contentDigest: contentDigest(plain) }),
      };
      const conditions = [condition('Ready', false), condition('SnapshotLost', isLost)];
      const found = { ...status, ...names, conditions, ...(phase ? { phase } : {}) } as VMDiskImageStatus;
      return aVMDiskImage({ name, deleted, annotations, spec: { storageClass }, status: found });
    });

const anyPolicy = some<Record<string, string>[]>(
  {},
  {},
  { concurrency: '0' },
  { retryLimit: 'many' },
  { allowedSources: 'https://nowhere.example/**' },
  { retainSourceVolume: 'true' },
).map((data) => parsePolicy({ data }));

const anyCondition = some(
  { status: 'True' },
  { status: 'False', reason: 'Completed' },
  { status: 'False', reason: 'Error', message: 'unexpected EOF' },
  { status: 'False', reason: 'Error', message: 'expected status code 200, got 404. Status: 404' },
  { status: 'False', reason: 'ChecksumError' },
);

/** What may have been made for an image: volumes of this attempt or another, importers, snapshots. */
const anyChildren = (image: VMDiskImage) =>
  fc.record({
    dataVolumes: fc.array(
      fc
        .record(
          {
            attempt: some(1, 2, image.status?.attempt ?? 1),
            revision: some(1, image.status?.revision ?? 1),
            phase: some('ImportScheduled', 'ImportInProgress', 'Succeeded', 'Failed'),
            restartCount: some(0, 1),
            progress: some('N/A', '40.00%'),
            running: anyCondition,
            bound: anyCondition,
          },
          { requiredKeys: ['running', 'bound'] },
        )
        .map((options) => aDataVolume(image, options)),
      { maxLength: 2 },
    ),
    pods: fc.array(
      fc
        .record({
          phase: some('Pending', 'Running', 'Succeeded', 'Failed'),
          uid: some('pod-1', 'pod-2'),
          leaving: fc.boolean(),
          restarts: some(0, 1),
        })
        .map((options) => anImporter(image, options)),
      { maxLength: 2 },
    ),
    snapshots: fc.array(
      fc
        .record({ ready: fc.boolean() })
        .map(({ ready }) => aSnapshot(image, ready ? { ready } : { error: 'VolumeSnapshotContent is missing' })),
      { maxLength: 1 },
    ),
  });

/** The API server refused the DataVolume or the snapshot that the image needs next, or nothing. */
const anyRefusals = ({ metadata, status }: VMDiskImage) =>
  some(undefined, undefined, undefined, 'Forbidden', 'Invalid').map((reason) => {
    const { revision = 1, attempt = 0 } = status ?? {};
    const { namespace } = metadata;
    const keys = [
      refusalKey(DataVolume, { namespace, name: dataVolumeName(metadata, revision, attempt) }),
      refusalKey(VolumeSnapshot, { namespace, name: snapshotName(metadata, revision) }),
    ];
    return new Map(reason === undefined ? [] : keys.map((key) => [key, { reason, message: 'no' }]));
  });

const classes = { storage: new Map([['gp3', 'ebs']]), snapshot: new Map([['ebs-snapshot', 'ebs']]) };

/** Everything that start-sync may find: two images, one of them with children and perhaps a slot. */
const startSyncFinds = fc.tuple(anyImage('a'), anyImage('b')).chain(([image, other]) =>
  fc
    .record({
      policy: anyPolicy,
      children: anyChildren(image),
      refusals: anyRefusals(image),
      classes: fc.constant(classes),
      donors: some<Donors>(new Map(), new Map([['vmdi-farm/content', { image: 'b', snapshot: 'b-r1' }]])),
      inputs: some(theirSecret, new Map(), new Map([['Secret vmdi-farm/s3-reader', undefined]])),
      lease: some(
        undefined,
        aLease('{"not":"slots"}'),
        aLease([]),
        aLease([aHolder(image, image.status?.attempt || 1)]),
        aLease([aHolder(image, (image.status?.attempt ?? 0) + 1)]),
      ),
    })
    .map(({ children, ...found }) => ({
      ...found,
      ...children,
      unreadHolders: new Set<string>(),
      claims: [],
      nowMs,
      images: [image, other],
      unfinished: [image, other],
      policyMap: undefined,
      isAudit: true,
      isTimed: true,
      isAboutAll: true,
      gracePeriodMs: 10_000,
      beside: { busy: new Set<string>(), room: 50, isAwaited: false },
    })),
);

const followSyncFinds = anyImage('a').chain((image) =>
  fc
    .record({
      policy: anyPolicy,
      children: anyChildren(image),
      refusals: anyRefusals(image),
      isSnapshotGone: fc.boolean(),
      isNamed: fc.boolean(),
      isAudit: fc.boolean(),
    })
    .map(({ children, ...found }) => ({ ...found, ...children, nowMs, image })),
);

/** Machines on the image, some of them on their way out. */
const anyMachines = fc.uniqueArray(
  fc
    .record({ name: some('a', 'b', 'c'), deleted: fc.boolean() })
    .map((options) => aVirtualMachine({ ...options, spec: { vmDiskImageRef: { name: 'a', namespace: 'vmdi-farm' } } })),
  { maxLength: 3, selector: ({ metadata }) => metadata.name },
);

const countRefsFinds = fc
  .record({ image: anyImage('a'), machines: anyMachines, policy: anyPolicy })
  .map((found) => ({ ...found, workspaces: [], nowMs, refusals: new Map() }));

const pruneFinds = anyImage('a').chain((image) =>
  fc
    .record({ policy: anyPolicy, machines: anyMachines, children: anyChildren(image), holdsSlot: fc.boolean() })
    .map(({ children, holdsSlot, ...found }) => ({
      ...found,
      workspaces: [],
      nowMs,
      image,
      left: { ...children, claims: [], holdsSlot },
    })),
);

const inspectSourceFinds = fc
  .record({
    image: anyImage('a'),
    policy: anyPolicy,
    inspection: some<Inspection>(
      { notInspected: 'no' },
      { unreachable: 'no' },
      { status: 404, code: 'NoSuchKey' },
      { bytes: 9, etag: 'e', lastModified: undefined, content: { format: 'qcow2' }, isCut: true },
      { bytes: 9, etag: 'e', lastModified: undefined, content: { format: undefined }, isCut: false },
    ),
  })
  .map((found) => ({ ...found, nowMs }));

/** What each function that may write an image's status decides, over everything it may find. */
const deciders: Readonly<Record<string, fc.Arbitrary<readonly Action[]>>> = {
  'count-refs': countRefsFinds.map(countRefs),
  prune: pruneFinds.map(prune),
  'inspect-source': inspectSourceFinds.map(inspectSource),
  'start-sync': startSyncFinds.map((seen) => split(seen).flatMap(startSync)),
  'follow-sync': followSyncFinds.map(followSync),
};

/**
 * "Queued → Syncing" for every phase that these actions write. A phase written once more is no transition (an attempt taken up
 * after a crash), unless the table has it for one.
 */
const transitionsIn = (actions: readonly Action[]) =>
  actions
    .filter((action) => action.do === 'patchStatus')
    .filter(({ resource, status }) => resource.kind === VMDiskImage.kind && status.phase !== undefined)
    .map(({ of, status }) => ({ from: (of as VMDiskImage).status?.phase ?? '', to: String(status.phase) }))
    .filter(
      ({ from, to }) =>
        from !== to || transitions.some((transition) => transition.from === from && transition.to === to),
    )
    .map(({ from, to }) => describeTransition(from, to));

const describeTransition = (from: string, to: string) => `${from || '""'} → ${to}`;
const transitionsOf = (name: string) =>
  transitions.filter(({ by }) => by === name).map(({ from, to }) => describeTransition(from, to));

test('no function is given the same transition twice', () => {
  const all = transitions.map(({ from, to, by }) => `${describeTransition(from, to)} by ${by}`);
  expect(all).toEqual([...new Set(all)]);
});

test('every function that may write the status of an image is among those looked at, and no other owns a transition', async () => {
  const writers = (await loadFunctions()).filter(({ may }) =>
    may.some(({ resource, subresource }) => resource.kind === VMDiskImage.kind && subresource === 'status'),
  );
  expect(Object.keys(deciders).sort()).toEqual(writers.map(({ name }) => name).sort());
  expect(Object.keys(deciders)).toEqual(expect.arrayContaining([...new Set(transitions.map(({ by }) => by))]));
});

/** Far more than the rarest transition needs. */
const mostSamples = 40;

describe.each(Object.entries(deciders))('whatever it finds, %s', (name, decisions) => {
  test('writes only transitions that the table gives it', () => {
    fc.assert(
      fc.property(decisions, (actions) => {
        for (const transition of transitionsIn(actions)) expect(transitionsOf(name)).toContain(transition);
      }),
      { numRuns: 1000 },
    );
  });
  test('writes each of the transitions that the table gives it', () => {
    const missing = new Set(transitionsOf(name));
    for (let seed = 1; missing.size > 0 && seed <= mostSamples; seed++)
      for (const one of fc.sample(decisions, { numRuns: 500, seed }).flatMap(transitionsIn)) missing.delete(one);
    expect([...missing]).toEqual([]);
  });
});
