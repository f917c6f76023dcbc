import { describe, expect, test } from 'vitest';
import type { Action } from '../../shared/actions.ts';
import type { KnownBeside } from '../../shared/function.ts';
import { contentDigest } from '../../shared/images/content-digest.ts';
import { holdersOf } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import {
  adoptSnapshot,
  syncRequested,
  type VMDiskImage,
  type VMDiskImageStatus,
} from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { policyRef } from '../../shared/policy.ts';
import {
  aClaim,
  aDataVolume,
  aHolder,
  aLease,
  allowedSources,
  anImporter,
  aSnapshot,
  at,
  aVMDiskImage,
  type ImageOptions,
  start,
  theirSecret,
} from '../../test/support/builders/images.ts';
import { classes, gathered, known, only, startSyncOf } from '../../test/support/harness/image-decisions.ts';
import { decide, split } from './decide.ts';
import { dataVolumeFor } from './slots/data-volume.ts';

type More = Parameters<typeof gathered>[1];
const withData = (more: More): More => ({ data: { concurrency: '2' }, ...more });

/** All that the decisions of one reconcile come to, one after the other. */
const reconcile = (images: VMDiskImage[], more: More = {}) => said(startSyncOf(images, withData(more)));

/** The decisions of one reconcile, each by itself. */
const decisions = (images: VMDiskImage[], more: More = {}) =>
  split(gathered(images, withData(more))).map((turn) => said(decide(turn)));

function said(actions: readonly Action[]) {
  const of = <Do extends Action['do']>(verb: Do) => only(actions, verb);
  const saved = of('replace').map(({ object }) =>
    holdersOf(Lease.parse(object))?.map(({ image }) => image.split('/')[1]),
  );
  const phases = of('patchStatus').map(({ of: image, status }) => `${image.metadata.name} ${status.phase}`);
  return {
    actions,
    of,
    phases,
    holders: saved[0],
    started: of('create').map(({ object }) => object.metadata.name.split('-')[0]),
  };
}

const queued = (name: string, seconds: number, more: ImageOptions = {}) =>
  known({ name, ...more, status: { phase: 'Queued', queuedAt: at(seconds).replace('Z', '000Z'), ...more.status } });

/** That of the decisions. */
const day = new Date(start + 100_000).toISOString().slice(0, 10);
/** The Lease after downloads of that many bytes today. */
const leaseOf = (bytes: number) => {
  const lease = aLease([]);
  const egress = JSON.stringify({ [day]: { lab: bytes } });
  return {
    ...lease,
    metadata: { ...lease.metadata, annotations: { ...lease.metadata.annotations, 'pelotech.ot/egress': egress } },
  };
};

describe('the budget', () => {
  const egressOf = (actions: ReturnType<typeof reconcile>, annotation = 'egress') => {
    const [write] = actions.of('replace');
    const { annotations } = (write as { object: { metadata: { annotations?: Record<string, string> } } }).object
      .metadata;
    return JSON.parse(annotations?.[`pelotech.ot/${annotation}`] ?? '{}') as Record<string, Record<string, number>>;
  };
  const images = [queued('a', 1), queued('b', 2), queued('c', 3)];
  const size = 24 * 2 ** 30;

  test('is counted in the write that gives the slots, and one image at most exceeds it', () => {
    const data = { concurrency: '3', egressBudget: `${size + 1}/1d` };
    const found = reconcile(images, { data });
    expect(found.holders).toEqual(['a', 'b']);
    expect(egressOf(found)).toEqual({ [day]: { 'vmdi-farm': 2 * size } });
  });
  test('has beside it, in the same write, whose bytes they are, and the history of an image has its own', () => {
    const labels = { 'pelotech.ot/requested-by': 'demo' };
    const found = reconcile([queued('a', 1, { labels }), queued('b', 2)], { data: { concurrency: '2' } });
    expect(found.of('replace')).toHaveLength(1);
    expect(egressOf(found, 'egress-by-requester')).toEqual({ [day]: { 'Workspace demo': size, direct: size } });
    expect(egressOf(found, 'egress-by-image')).toEqual({ [day]: { 'vmdi-farm/a': size, 'vmdi-farm/b': size } });
    const [begun] = found.of('patchStatus').map(({ status }) => status);
    expect(begun).toMatchObject({ egressBytes: size, history: [{ fact: 'Syncing', bytes: size }] });
  });
  test('that is spent starts nothing, but for an image that an admin lets go ahead', () => {
    const data = { concurrency: '3', egressBudget: '1Gi/1d' };
    expect(reconcile(images, { data, lease: leaseOf(2 ** 30) }).holders).toBeUndefined();
    const urgent = queued('d', 4, { annotations: { 'pelotech.ot/ignore-budget': 'true' } });
    const found = reconcile([...images, urgent], { data, lease: leaseOf(2 ** 30) });
    expect(found.holders).toEqual(['d']);
    expect(egressOf(found)).toEqual({ [day]: { lab: 2 ** 30, 'vmdi-farm': size } });
  });
  test('that does not parse starts nothing', () => {
    expect(reconcile(images, { data: { egressBudget: 'much' } }).holders).toBeUndefined();
  });
});

test.each(['Syncing', 'Succeeded', 'Failed'] as const)(
  'a spec that asks for nothing new of a %s image is acknowledged: the status speaks of it, once',
  (phase) => {
    const before = known({ name: 'a', status: { phase, attempt: 1, observedGeneration: 1 } });
    const renamed = { ...before, metadata: { ...before.metadata, generation: 2 } };
    expect(reconcile([renamed]).of('patchStatus')).toMatchObject([{ status: { observedGeneration: 2 } }]);
    const acknowledged = { ...renamed, status: { ...renamed.status, observedGeneration: 2 } };
    expect(reconcile([acknowledged]).of('patchStatus')).toEqual([]);
    const leaving = { ...renamed, metadata: { ...renamed.metadata, deletionTimestamp: at(1) } };
    expect(reconcile([leaving]).of('patchStatus')).toEqual([]);
  },
);

const withStatus = (image: VMDiskImage, status: VMDiskImageStatus): VMDiskImage => ({
  ...image,
  status: { ...image.status, ...status },
});

describe('an image that an earlier release finished without the condition Stalled', () => {
  const said = { reason: 'NotFound', message: 'The source is not there.' };
  const condition = (type: string, status: 'True' | 'False') => ({ type, status, ...said, lastTransitionTime: at(0) });
  const old = (name: string, phase: 'Failed' | 'Succeeded' = 'Failed', more = [condition('Ready', 'False')]) =>
    withStatus(known({ name }), { phase, message: said.message, conditions: more });
  const lost = old('lost', 'Succeeded', [condition('Ready', 'False'), condition('SnapshotLost', 'True')]);
  test.each([
    ['failed', old('a')],
    ['has lost its snapshot', lost],
  ])('and that %s, has it, once', (_, image) => {
    const [written, ...others] = reconcile([image], { isTimed: true, isAudit: true }).of('patchStatus');
    expect(others).toEqual([]);
    const conditions = written?.status.conditions as NonNullable<VMDiskImageStatus['conditions']>;
    const stalled = {
      ...condition('Stalled', 'True'),
      lastTransitionTime: expect.stringContaining('00:01:40') as string,
    };
    expect(conditions).toMatchObject([...(image.status?.conditions ?? []), stalled]);
    expect(Object.keys(written?.status ?? {})).toEqual(['conditions']);
    const mended = withStatus(image, { conditions });
    expect(reconcile([mended], { isTimed: true, isAudit: true }).of('patchStatus')).toEqual([]);
  });
  test('and that is usable, or being deleted, is left as it is', () => {
    const usable = [condition('Ready', 'True'), condition('SnapshotLost', 'False')];
    const leaving = { ...lost, metadata: { ...lost.metadata, deletionTimestamp: at(1) } };
    expect(reconcile([old('a', 'Succeeded', usable), leaving], { isAudit: true }).of('patchStatus')).toEqual([]);
  });
  test('is one of 200 at a time', () => {
    const images = Array.from({ length: 220 }, (_, index) => old(`i${index}`));
    expect(reconcile(images, { isTimed: true, isAudit: true }).of('patchStatus')).toHaveLength(200);
  });
});

describe('the message of a queued image', () => {
  const syncing = ['a', 'b', 'c', 'd'].map((name) => known({ name, status: { phase: 'Syncing', attempt: 1 } }));
  const held = (count: number) => aLease(syncing.slice(0, count).map((image) => aHolder(image)));
  /** The status that is written of this image, beside that many others that download. */
  const saidOf = (image: VMDiskImage, others: number, data: Record<string, string>) => {
    const found = reconcile([image, ...syncing.slice(0, others)], { data, lease: held(others), isTimed: true }).of(
      'patchStatus',
    );
    const written = found.filter(({ of }) => of.metadata.uid === image.metadata.uid).map(({ status }) => status);
    expect(written.length).toBeLessThan(2);
    return written[0] as VMDiskImageStatus | undefined;
  };
  const newImage = aVMDiskImage({ name: 'new' });

  test('names those that hold all slots, and when', () => {
    expect(saidOf(newImage, 4, { concurrency: '4' })?.message).toBe(
      'Waiting for a free slot; all 4 were held at 00:01:40 UTC, by vmdi-farm/a, vmdi-farm/b, vmdi-farm/c and 1 more.',
    );
  });
  test('says so of a single slot, too', () => {
    expect(saidOf(newImage, 1, { concurrency: '1' })?.message).toBe(
      'Waiting for a free slot; the only one was held at 00:01:40 UTC, by vmdi-farm/a.',
    );
  });
  test('names no image of another namespace', () => {
    const theirs = syncing.slice(0, 2).map((image) => ({ ...aHolder(image), image: `tenant/${image.metadata.name}` }));
    const [queues] = reconcile([newImage, ...syncing.slice(0, 2)], { lease: aLease(theirs) }).of('patchStatus');
    expect(queues?.status.message).toBe(
      'Waiting for a free slot; all 2 were held at 00:01:40 UTC, by images of other namespaces.',
    );
  });
  test('while a slot is free, names where the holders are', () => {
    const [, message] = reconcile([newImage, queued('first', 1), queued('second', 2)])
      .of('patchStatus')
      .filter(({ of }) => of.metadata.uid === newImage.metadata.uid)
      .map(({ status }) => status.message);
    expect(message).toBeUndefined();
    expect(saidOf(newImage, 1, { concurrency: '2', slotsPerNamespace: '1' })?.message).toBe(
      'Waiting for a free slot; Lease sync-operator/sync-slots names the holders, at most 2; namespace vmdi-farm may hold 1 (slotsPerNamespace).',
    );
  });
  const paused = 'Waiting: the queue is paused (concurrency 0).';
  test.each([
    ['QueuePaused', { concurrency: '0' }, paused],
    [
      'InvalidPolicy',
      { concurrency: 'abc' },
      'Waiting: the policy does not parse: concurrency: expected a whole number from 0 to 1000, found "abc".',
    ],
  ])('says that nothing starts (%s), from its first, and once it is so', (reason, data, message) => {
    const said = {
      message,
      conditions: [
        { type: 'Ready', reason, message },
        { type: 'Reconciling', status: 'True', reason, message },
      ],
    };
    expect(saidOf(newImage, 0, data)).toMatchObject({ ...said, phase: 'Queued' });
    const waits = queued('waits', 1);
    const stopped = saidOf(waits, 0, data);
    expect(stopped).toMatchObject(said);
    expect(stopped).not.toHaveProperty('phase');
    const told = queued('waits', 1, { status: stopped ?? {} });
    expect(saidOf(told, 0, data)).toBeUndefined();
    // This message is corrected once the queue starts again; that other images start corrects none.
    expect(saidOf(told, 2, { concurrency: '2' })).toMatchObject({
      message: expect.stringContaining('all 2 were held') as string,
      conditions: [{ reason: 'Queued' }, { reason: 'Queued' }],
    });
    expect(saidOf(waits, 2, { concurrency: '2' })).toBeUndefined();
  });
  test('is corrected by sweeps alone, after the slots are given, 200 at a time', () => {
    const data = { concurrency: '2' };
    const ready = { type: 'Ready', status: 'False', reason: 'QueuePaused', message: paused } as const;
    const stopped = { message: paused, conditions: [{ ...ready, lastTransitionTime: at(0) }] };
    const images = Array.from({ length: 220 }, (_, index) => queued(`i${index}`, index, { status: stopped }));
    const rewritten = (written: ReturnType<typeof reconcile>) =>
      written.of('patchStatus').filter(({ status }) => status.phase === undefined).length;
    expect(rewritten(reconcile(images, { data }))).toBe(0);
    const found = reconcile(images, { data, isTimed: true });
    expect(rewritten(found)).toBe(200);
    const { actions } = found;
    const lease = actions.findIndex((action) => action.do === 'replace');
    expect(actions.findIndex((action) => action.do === 'patchStatus')).toBeGreaterThan(lease);
  });
});

describe('what is wrong with the policy', () => {
  const reported = (
    data: Record<string, string>,
    { resourceVersion = '7', ...more }: More & { resourceVersion?: string } = {},
  ) => {
    const metadata = { ...policyRef, uid: 'u', resourceVersion, generation: 1, creationTimestamp: at(0) };
    const policyMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as const;
    return reconcile([], { data, policyMap, lease: leaseOf(1), isAboutAll: true, ...more })
      .of('recordEvent')
      .map(({ reason, message, once }) => ({ reason, message, once }));
  };
  const spent = { concurrency: '4', egressBudget: '1/1d' };
  test('is reported at it', () => {
    expect(reported({ concurrency: '0' })).toMatchObject([
      { reason: 'QueuePaused', message: 'Nothing starts: the queue is paused (concurrency 0).' },
    ]);
    expect(reported(spent)).toMatchObject([{ reason: 'BudgetSpent' }]);
    expect(reported({ concurrency: 'x' })).toMatchObject([{ reason: 'InvalidPolicy' }]);
    expect(reported({ concurency: '4' })).toMatchObject([{ reason: 'UnknownPolicyKey' }]);
    expect(reported({ concurrency: '4' })).toEqual([]);
  });
  test.each([{ concurrency: '0' }, spent, { concurrency: 'x' }, { concurency: '4' }])(
    '(%j) is the same Event after an edit of another key',
    (data) => {
      const onceOf = (...of: Parameters<typeof reported>) => reported(...of).map(({ once }) => once);
      expect(onceOf(data)).toHaveLength(1);
      expect(onceOf({ ...data, retryLimit: '4' }, { resourceVersion: '8' })).toEqual(onceOf(data));
    },
  );
  test('is another Event for another value', () => {
    const [one, other] = [reported(spent), reported({ ...spent, egressBudget: '1/2d' })];
    expect(one[0]?.once).not.toBe(other[0]?.once);
  });
  test('is no write of a reconcile that is about neither all images nor the policy', () => {
    for (const data of [{ concurrency: '0' }, { concurrency: 'x' }, { concurency: '4' }])
      expect(reported(data, { isAboutAll: false })).toEqual([]);
  });
});

describe('the queue', () => {
  test('a thousand images with the longest names get a thousand slots, and the Lease stays within the limit of the API server', () => {
    const images = Array.from({ length: 1000 }, (_, index) =>
      queued(`${index}-`.padEnd(253, 'x'), index, { uid: crypto.randomUUID() }),
    );
    const { of } = reconcile(images, { data: { concurrency: '1000' } });
    const [lease] = of('replace').map(({ object }) => Lease.parse(object));
    const annotations = Object.entries(lease?.metadata.annotations ?? {})
      .flat()
      .join('');
    expect(annotations.length).toBeLessThanOrEqual(256 * 1024);
    const holders = holdersOf(lease) ?? [];
    expect(new Set(holders.map(({ uid }) => uid)).size).toBe(1000);
    // The first holders are listed with their names.
    expect(holders.findIndex(({ image }) => image === '')).toBeGreaterThan(400);
    expect(of('create')).toHaveLength(1000);
  });
  test('the two images that waited longest get the two slots, in one write of the Lease', () => {
    const { holders, started, phases, of } = reconcile([queued('c', 3), queued('a', 1), queued('b', 2)]);
    expect(holders).toEqual(['a', 'b']);
    expect(started).toEqual(['a', 'b']);
    expect(phases).toEqual(['a Syncing', 'b Syncing']);
    expect(of('replace')).toHaveLength(1);
  });
  test('an image whose namespace has its slots lets the next go ahead, and keeps its place', () => {
    const of = (name: string, second: number) => queued(name, second, { namespace: 'tenant-a' });
    const images = [of('a', 1), of('b', 2), of('c', 3), queued('d', 4), queued('e', 5)];
    const data = { concurrency: '4', slotsPerNamespace: '1', allowedSources };
    const inputs = new Map([...theirSecret, ['Secret tenant-a/s3-reader', { accessKeyId: true, secretKey: true }]]);
    expect(reconcile(images, { data, inputs }).holders).toEqual(['a', 'd']);
    const lease = aLease([{ ...aHolder(of('x', 0)), uid: 'x' }]);
    const dataVolumes = [aDataVolume(aVMDiskImage({ name: 'x', uid: 'x' }))];
    expect(reconcile(images, { data, inputs, lease, dataVolumes }).holders).toEqual(['x', 'd']);
    expect(reconcile(images, { data: { ...data, slotsPerNamespace: '2' }, inputs }).holders).toEqual([
      'a',
      'b',
      'd',
      'e',
    ]);
    expect(reconcile(images, { data: { ...data, slotsPerNamespace: '0' }, inputs }).holders).toBeUndefined();
  });
  test('the slot is saved before the status, the status before the DataVolume', () => {
    const order = reconcile([queued('a', 1)]).actions.map(({ do: verb }) => verb);
    expect(order.filter((verb) => ['replace', 'patchStatus', 'create'].includes(verb))).toEqual([
      'replace',
      'patchStatus',
      'create',
    ]);
  });
  test('a new image takes its place by its creation, the second told apart by resourceVersion', () => {
    const { of } = reconcile(
      [
        aVMDiskImage({ name: 'late', resourceVersion: '101', createdAfterSeconds: 5 }),
        aVMDiskImage({ name: 'early', resourceVersion: '99', createdAfterSeconds: 5 }),
        aVMDiskImage({ name: 'first', resourceVersion: '200', createdAfterSeconds: 4 }),
      ],
      { data: { concurrency: '0' } },
    );
    const places = of('patchStatus').map(({ of: image, status }) => [image.metadata.name, status.queuedAt]);
    expect(Object.fromEntries(places)).toEqual({
      first: '2026-01-01T00:00:04.000001Z',
      early: '2026-01-01T00:00:05.000001Z',
      late: '2026-01-01T00:00:05.000002Z',
    });
  });
  test('a new image is queued and started in one reconcile where a slot is free', () => {
    expect(reconcile([aVMDiskImage({ name: 'new', finalizers: [] })]).phases).toEqual(['new Queued', 'new Syncing']);
  });
  test('its history has both', () => {
    const history = reconcile([aVMDiskImage({ name: 'new' })])
      .of('patchStatus')
      .at(-1)?.status.history as { fact: string }[];
    expect(history.map(({ fact }) => fact)).toEqual(['Queued', 'Syncing']);
  });
  test('the finalizer is set before anything is made, and after the place in the queue is written', () => {
    const verbs = reconcile([aVMDiskImage({ name: 'new', finalizers: [] })]).actions.map(({ do: verb }) => verb);
    const order = [verbs.indexOf('patchStatus'), verbs.indexOf('patchMetadata'), verbs.indexOf('create')];
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order).not.toContain(-1);
  });
  test('a queued image that a crash left without finalizer gets it before its DataVolume', () => {
    const verbs = reconcile([queued('a', 1, { finalizers: [] })]).actions.map(({ do: verb }) => verb);
    expect(verbs[0]).toBe('patchMetadata');
  });
  test.each(['Queued', 'Syncing', 'Snapshotting', 'Retrying', 'Succeeded', 'Failed'] as const)(
    'a finalizer that a user removed from a %s image is added again, once',
    (phase) => {
      const status = { phase, attempt: 1, attempts: 1, nextAttemptAt: at(999), startedAt: at(0) };
      const patches = (finalizers?: string[]) =>
        reconcile([known({ status, ...(finalizers ? { finalizers } : {}) })], { data: { concurrency: '0' } }).of(
          'patchMetadata',
        );
      expect(patches(['other/one'])).toMatchObject([
        { metadata: { finalizers: ['other/one', 'pelotech.ot/disk-image'] } },
      ]);
      expect(patches()).toEqual([]);
    },
  );
  test('no image overtakes an older one that this reconcile cannot queue yet', () => {
    const newImages = Array.from({ length: 60 }, (_, index) =>
      aVMDiskImage({ name: `n${index}`, createdAfterSeconds: index }),
    );
    const { started } = reconcile([...newImages, queued('z', 90)], { data: { concurrency: '100' } });
    expect(started).toHaveLength(40);
    expect(started).not.toContain('z');
  });
  test('no image overtakes one just being queued beside this reconcile', () => {
    const [early, late] = [queued('early', 1), queued('late', 2)];
    const { started } = reconcile([early, late], { undecided: new Set([early.metadata.uid]) });
    expect(started).toEqual([]);
    expect(reconcile([early, late], { undecided: new Set([late.metadata.uid]) }).started).toEqual(['early']);
  });
  test('a crowd of new images is queued beside the assignment of slots, not before it', () => {
    const newImages = Array.from({ length: 5 }, (_, index) =>
      aVMDiskImage({ name: `n${index}`, createdAfterSeconds: 10 + index }),
    );
    const [first, ...others] = decisions([queued('a', 1), ...newImages]);
    expect(first?.phases).toEqual(['n0 Queued', 'a Syncing', 'n0 Syncing']);
    expect(others.map(({ phases }) => phases)).toEqual([['n1 Queued'], ['n2 Queued'], ['n3 Queued'], ['n4 Queued']]);
  });
  test('of a crowd one more than there is room for asks for the next reconcile, and none is looked at before that', () => {
    const newImages = Array.from({ length: 60 }, (_, index) =>
      aVMDiskImage({ name: `n${index}`, createdAfterSeconds: index }),
    );
    const looked = (beside: Partial<KnownBeside> = {}) =>
      decisions([queued('a', -1), ...newImages], {
        data: { concurrency: '2' },
        beside: { busy: new Set(), room: 50, isAwaited: false, ...beside },
      }).map(({ phases }) => phases.filter((phase) => phase.endsWith('Queued')));
    expect(looked()).toHaveLength(1 + 51);
    expect(looked({ room: 1 })).toEqual([['n0 Queued'], ['n1 Queued'], ['n2 Queued']]);
    expect(looked({ isAwaited: true })).toEqual([[]]);
  });
  test('each of a crowd is looked at again when its inspection takes too long', () => {
    const newImages = ['n0', 'n1', 'n2'].map((name, index) => aVMDiskImage({ name, createdAfterSeconds: 10 + index }));
    const looks = decisions(newImages, {
      data: { concurrency: '1', inspectTimeout: '30s' },
      nowMs: start + 20_000,
    }).map(({ of }) => of('requeueAfter').map(({ about, afterMs }) => [about.metadata.name, afterMs]));
    expect(looks).toEqual([[['n0', 30_000]], [['n1', 30_000]], [['n2', 30_000]]]);
  });
  test('while enough images wait for all slots, the decision that assigns them queues none', () => {
    const [first] = decisions([queued('a', 1), queued('b', 2), aVMDiskImage({ name: 'n', createdAfterSeconds: 3 })]);
    expect(first?.phases).toEqual(['a Syncing', 'b Syncing']);
  });
  test('a retry goes to the end of the line when it is due, and not before', () => {
    const retrying = known({
      name: 'r',
      status: { phase: 'Retrying', attempt: 1, attempts: 1, nextAttemptAt: at(100) },
    });
    const { of } = reconcile([retrying], { data: { concurrency: '0' } });
    expect(of('patchStatus')[0]?.status).toMatchObject({ phase: 'Queued', queuedAt: '2026-01-01T00:01:40.000000Z' });
    expect(reconcile([retrying], { nowMs: start + 99_999 }).phases).toEqual([]);
  });
  test('a retry whose time a user removed from the status waits its back-off from the last change', () => {
    const history = [{ time: at(100), fact: 'Retrying', message: '' }];
    const retrying = known({ name: 'r', status: { phase: 'Retrying', attempt: 2, attempts: 2, history } });
    const data = { concurrency: '0', retryBackoffDuration: '1m' };
    expect(reconcile([retrying], { data, nowMs: start + 219_999 }).phases).toEqual([]);
    expect(reconcile([retrying], { data, nowMs: start + 220_000 }).phases).toEqual(['r Queued']);
  });
  test('an image that is being deleted starts nothing', () => {
    expect(reconcile([queued('a', 1, { deleted: true }), aVMDiskImage({ deleted: true })]).actions).toEqual([]);
  });
  test.each([
    ['is downloading', { phase: 'Syncing', attempt: 1, startedAt: at(0) }],
    ['waits to try again', { phase: 'Retrying', attempt: 1, nextAttemptAt: at(0) }],
    ['has another spec by now', { phase: 'Succeeded', contentDigest: 'another' }],
    ['lost its snapshot', { phase: 'Succeeded', snapshot: { name: 'lost', revision: 1 } }],
  ] as const)(
    'an image that machines keep after its deletion starts nothing where it %s, and holds no slot',
    (_, status) => {
      const lost = {
        type: 'SnapshotLost',
        status: 'True' as const,
        reason: 'x',
        message: '',
        lastTransitionTime: at(0),
      };
      const image = known({
        name: 'a',
        deleted: true,
        status: { references: { count: 1 }, conditions: [lost], ...status },
      });
      const { phases, started, holders } = reconcile([image, queued('b', 1)], {
        data: { concurrency: '1' },
        lease: aLease([aHolder(image)]),
      });
      expect(phases).toEqual(['b Syncing']);
      expect(started).toEqual(['b']);
      expect(holders).toEqual(['b']);
    },
  );
});

describe('an image that Failed because of its snapshot, and whose sync is requested', () => {
  const status = { phase: 'Failed', attempt: 1, attempts: 1, snapshottingAt: at(60) } as const;
  const before = known({ name: 'a', status });
  const asked = (more: ImageOptions = {}) =>
    aVMDiskImage({ name: 'a', annotations: { [syncRequested]: 'now' }, status: before.status ?? {}, ...more });
  const volume = aDataVolume(before, { phase: 'Succeeded' });
  const failedVolume = aDataVolume(before, { phase: 'Failed' });
  test.each<[string, VMDiskImage, DataVolume[], string[]]>([
    ['downloads nothing if its volume exists', asked(), [volume], []],
    ['is downloaded again if its volume is lost', asked(), [], ['a Queued']],
    ['is downloaded again if its volume has Failed', asked(), [failedVolume], ['a Queued']],
    ['is downloaded again if its spec changed, too', asked({ spec: { diskSize: '30Gi' } }), [volume], ['a Queued']],
    [
      'is downloaded again if it was requested before',
      asked({ status: { ...before.status, syncRequested: 'x' } }),
      [volume],
      ['a Queued'],
    ],
    ['adopts the named snapshot', asked({ annotations: { [adoptSnapshot]: 'golden' } }), [volume], ['a Snapshotting']],
  ])('%s', (_, image, dataVolumes, phases) => {
    expect(reconcile([image], { dataVolumes, data: { concurrency: '0' } }).phases).toEqual(phases);
  });
  test('records the requested content once it is queued', () => {
    const [write] = reconcile([asked()], { data: { concurrency: '0' } }).of('patchStatus');
    expect(write?.status).toMatchObject({ revision: 2, contentDigest: contentDigest(asked()), syncRequested: 'now' });
  });
});

describe('a transition of thousands of images', () => {
  const crowd = Array.from({ length: 5000 }, (_, index) =>
    queued(`c${index}`, index % 60, { spec: { storageClass: 'gone' } }),
  );
  const writes = (actions: readonly Action[]) => actions.filter((action) => 'resource' in action);

  test('covers fifty a reconcile, after the slots are assigned, and the next reconcile continues', () => {
    const { actions, started, phases, of } = reconcile([...crowd, queued('a', 99)]);
    expect(started).toEqual(['a']);
    expect(
      writes(actions)
        .slice(0, 3)
        .map(({ do: verb }) => verb),
    ).toEqual(['replace', 'patchStatus', 'create']);
    expect(phases.filter((phase) => phase.endsWith(' Failed'))).toHaveLength(50);
    expect(writes(actions)).toHaveLength(53);
    expect(of('requeueAfter')).toMatchObject([{ about: { kind: 'ConfigMap', metadata: policyRef }, afterMs: 0 }]);
  });
  test('requeues each finished image by itself: no list of unfinished images has it', () => {
    const failed = crowd.map((image) => {
      const conditions = [
        {
          type: 'Ready',
          status: 'False' as const,
          reason: 'StorageClassMissing',
          message: '',
          lastTransitionTime: at(0),
        },
      ];
      return known({ name: image.metadata.name, status: { ...image.status, phase: 'Failed', conditions } });
    });
    const postponed = [{ namespace: 'vmdi-farm', name: 'new' }];
    const { phases, of } = reconcile(failed, { data: { concurrency: '0' }, postponed });
    expect(phases).toHaveLength(50);
    expect(of('requeueAfter')).toHaveLength(4951);
    expect(of('requeueAfter').at(-1)).toMatchObject({ about: { metadata: { name: 'new' } }, afterMs: 0 });
  });
  test('precedes the slots if it is one of the queue and fits into one reconcile', () => {
    const { actions } = reconcile([...crowd.slice(0, 50), queued('a', 99)]);
    expect(
      writes(actions)
        .slice(50)
        .map(({ do: verb }) => verb),
    ).toEqual(['replace', 'patchStatus', 'create']);
    expect(actions.some((action) => action.do === 'requeueAfter')).toBe(false);
  });
  test('of images outside the queue follows the slots, however few these are', () => {
    const finished = known({ name: 'f', status: { phase: 'Succeeded' }, finalizers: [] });
    const verbs = writes(reconcile([finished, queued('a', 99)]).actions).map(({ do: verb }) => verb);
    expect(verbs).toEqual(['replace', 'patchStatus', 'create', 'patchMetadata']);
  });
});

describe('slots', () => {
  const syncing = (name: string) =>
    known({ name, status: { phase: 'Syncing', attempt: 1, attempts: 1, startedAt: at(0), dataVolume: 'seen' } });
  test('a lowered limit ends no download and starts none', () => {
    const running = [syncing('a'), syncing('b'), syncing('c')];
    const { actions } = reconcile([...running, queued('d', 1)], {
      lease: aLease(running.map((image) => aHolder(image))),
    });
    expect(actions).toEqual([]);
  });
  test('concurrency 0 is pause', () => {
    expect(reconcile([queued('a', 1)], { data: { concurrency: '0' } }).started).toEqual([]);
  });
  const over = known({ name: 'a', status: { phase: 'Snapshotting', attempt: 1, attempts: 1 } });
  test.each([
    ['its DataVolume has Succeeded and its importer is gone', [aDataVolume(over, { phase: 'Succeeded' })], [], []],
    ['its DataVolume exists and is not done', [aDataVolume(over)], [], undefined],
    ['an importer is still at work', [], [anImporter(over)], undefined],
    ['its importer has Succeeded', [], [anImporter(over, { phase: 'Succeeded' })], []],
    ['its importer has been Terminating for 100 s', [], [anImporter(over, { leaving: true })], undefined],
  ])('a slot whose attempt is over, where %s', (_, dataVolumes, pods, holders) => {
    expect(reconcile([over], { lease: aLease([aHolder(over)]), dataVolumes, pods }).holders).toEqual(holders);
  });
  test('a slot whose importer is Terminating for over ten minutes is freed with a Warning', () => {
    const { holders, of } = reconcile([over], {
      lease: aLease([aHolder(over)]),
      pods: [anImporter(over, { leaving: true })],
      nowMs: start + 601_000,
    });
    expect(holders).toEqual([]);
    expect(of('recordEvent')[0]).toMatchObject({ type: 'Warning', reason: 'SlotFreed' });
  });
  test('a DataVolume that stays Terminating keeps its slot, and is named in a Warning after ten minutes', () => {
    const volume = aDataVolume(over);
    const metadata = {
      ...volume.metadata,
      deletionTimestamp: at(0),
      finalizers: ['cdi.kubevirt.io/dataVolumeFinalizer'],
    };
    const dataVolumes = [{ ...volume, metadata }];
    const warningsAt = (seconds: number) => {
      const { of, holders } = reconcile([over], {
        lease: aLease([aHolder(over)]),
        dataVolumes,
        nowMs: start + seconds * 1000,
      });
      expect(holders).toBeUndefined();
      return of('recordEvent');
    };
    expect(warningsAt(600)).toEqual([]);
    const [warning] = warningsAt(601);
    expect(warning).toMatchObject({ type: 'Warning', reason: 'SlotHeld', about: { metadata: { uid: metadata.uid } } });
    expect(warning?.message).toContain('(finalizers: cdi.kubevirt.io/dataVolumeFinalizer)');
  });
  describe('an importer without a current attempt keeps its slot', () => {
    const failed = (endedAfterSeconds: number) =>
      known({
        name: 'a',
        status: {
          phase: 'Failed',
          attempt: 1,
          attempts: 1,
          history: [{ time: at(endedAfterSeconds), fact: 'Failed', message: '' }],
        },
      });
    const importer = (options: Parameters<typeof anImporter>[1] = {}) => {
      const pod = anImporter(failed(0), options);
      return { ...pod, metadata: { ...pod.metadata, creationTimestamp: at(-3600) } };
    };
    const lease = aLease([aHolder(failed(0))]);
    const told = (images: VMDiskImage[], pods = [importer()]) => {
      const { holders, of } = reconcile(images, { lease, pods, nowMs: start + 601_000 });
      return { holders, warnings: of('recordEvent').map(({ reason }) => reason) };
    };
    test.each<[string, VMDiskImage[], ReturnType<typeof importer>[], string[]]>([
      ['and a Warning reports it if the attempt ended over ten minutes ago', [failed(0)], [importer()], ['SlotHeld']],
      ['without a Warning if the attempt ended just now', [failed(600)], [importer()], []],
      ['and a Warning reports it if the image does not exist', [], [importer()], ['SlotHeld']],
      [
        'without a Warning if the importer is being deleted',
        [failed(0)],
        [importer({ leaving: true, uid: 'x' })],
        ['SlotFreed'],
      ],
    ])('%s', (_, images, pods, warnings) => {
      expect(told(images, pods).warnings).toEqual(warnings);
    });
    test('and a Warning never reports the importer of a running attempt', () => {
      const { of } = reconcile([syncing('a')], { lease, pods: [importer()], nowMs: start + 601_000 });
      expect(of('recordEvent')).toEqual([]);
    });
    test('until it is deleted', () => {
      expect(told([failed(0)]).holders).toBeUndefined();
      expect(told([failed(0)], []).holders).toEqual([]);
    });
  });
  test('release and grant share one write', () => {
    const { holders, of } = reconcile([over, queued('b', 1)], {
      lease: aLease([aHolder(over)]),
      data: { concurrency: '1' },
    });
    expect(holders).toEqual(['b']);
    expect(of('replace')).toHaveLength(1);
  });
  test.each([
    ['is Succeeded', [{ phase: 'Succeeded' }], [], ['b']],
    ['is Succeeded, but an importer is at work', [{ phase: 'Succeeded' }], ['importer'], undefined],
    ['is under way', [{ phase: 'ImportInProgress' }], [], undefined],
    ['is in no list', [], [], undefined],
  ])('a slot whose image is Syncing, where the DataVolume of the attempt %s', (_, found, importers, holders) => {
    const running = syncing('a');
    const result = reconcile([running, queued('b', 1)], {
      lease: aLease([aHolder(running)]),
      data: { concurrency: '1' },
      dataVolumes: found.map((status) => aDataVolume(running, status)),
      pods: importers.map(() => anImporter(running)),
    });
    expect(result.holders).toEqual(holders);
    expect(result.started).toEqual(holders ?? []);
  });
  test('a slot does not go on for a DataVolume of an earlier attempt', () => {
    const again = known({ name: 'a', status: { phase: 'Syncing', attempt: 2, attempts: 2, dataVolume: 'seen' } });
    const first = known({ name: 'a', status: { phase: 'Syncing', attempt: 1, attempts: 1 } });
    const { holders } = reconcile([again, queued('b', 1)], {
      lease: aLease([aHolder(again, 2)]),
      data: { concurrency: '1' },
      dataVolumes: [aDataVolume(first, { phase: 'Succeeded' })],
    });
    expect(holders).toBeUndefined();
  });
  test('an image gone or at rest gives its slot back', () => {
    expect(reconcile([], { lease: aLease([aHolder(over)]) }).holders).toEqual([]);
  });
  test('an image created again under the same name inherits no slot', () => {
    const old = aHolder(queued('a', 1, { uid: 'old' }));
    const { of } = reconcile([queued('a', 1, { uid: 'new' })], { lease: aLease([old]), data: { concurrency: '1' } });
    expect(holdersOf(Lease.parse(of('replace')[0]?.object))?.map(({ uid }) => uid)).toEqual(['new']);
  });
});

describe('after a crash', () => {
  test('a slot without a status is taken up', () => {
    const image = queued('a', 1);
    const { started, phases, of } = reconcile([image], { lease: aLease([aHolder(image)]) });
    expect({ started, phases, saves: of('replace').length }).toEqual({
      started: ['a'],
      phases: ['a Syncing'],
      saves: 0,
    });
  });
  test('a status without a DataVolume makes that very DataVolume', () => {
    const image = known({ name: 'a', status: { phase: 'Syncing', attempt: 1, attempts: 1, startedAt: at(0) } });
    const { started, of } = reconcile([image], { lease: aLease([aHolder(image)]) });
    expect(started).toEqual(['a']);
    expect(of('patchStatus').map(({ status }) => status)).toEqual([{ phase: 'Syncing' }]);
  });
  test('an existing DataVolume is not created again', () => {
    const image = known({ name: 'a', status: { phase: 'Syncing', attempt: 1, attempts: 1, startedAt: at(0) } });
    expect(reconcile([image], { lease: aLease([aHolder(image)]), dataVolumes: [aDataVolume(image)] }).actions).toEqual(
      [],
    );
  });
  test.each([
    ['missing', undefined],
    ['garbled', aLease('not json')],
    ['twice the same holder', aLease([aHolder(queued('x', 1)), aHolder(queued('x', 1))])],
  ])('a Lease that is %s is rebuilt from what downloads, and nothing is granted', (_, lease) => {
    const image = known({
      name: 'a',
      status: { phase: 'Syncing', attempt: 1, attempts: 1, dataVolume: 'seen', startedAt: at(0) },
    });
    const { started, actions } = reconcile([image, queued('b', 1)], { lease, dataVolumes: [aDataVolume(image)] });
    expect(started).toEqual(lease ? [] : ['sync']);
    const written = actions.find(({ do: verb }) => verb === (lease ? 'replace' : 'create')) as { object: unknown };
    expect(holdersOf(Lease.parse(written.object))?.map(({ uid }) => uid)).toEqual(['uid-a']);
  });
  test('a download that a user removed from the Lease has its slot again before another image gets one', () => {
    const running = known({ name: 'running', status: { phase: 'Syncing', attempt: 1, attempts: 1 } });
    const waiting = queued('waiting', 0);
    const more = { data: { concurrency: '1' }, lease: aLease([]), dataVolumes: [aDataVolume(running)] };
    expect(reconcile([running, waiting], more)).toMatchObject({ holders: ['running'], started: [] });
  });

  test('an image gets no second slot while its last attempt still downloads, although no Lease says so', () => {
    const before = known({ name: 'again', status: { phase: 'Syncing', attempt: 1 } });
    const again = queued('again', 0, { status: { revision: 2 } });
    const more = { lease: aLease([]), dataVolumes: [aDataVolume(before)] };
    expect(reconcile([again], more)).toMatchObject({ holders: ['again'], started: [] });
  });

  test('a DataVolume that has Failed downloads nothing more, and takes no slot back', () => {
    const ended = known({ name: 'ended', status: { phase: 'Retrying', attempt: 1, attempts: 1 } });
    const more = { data: { concurrency: '0' }, lease: aLease([]) };
    const { of } = reconcile([ended], { ...more, dataVolumes: [aDataVolume(ended, { phase: 'Failed' })] });
    expect(of('replace')).toEqual([]);
  });

  test('an importer that has been Terminating for too long takes no slot back, and the Lease is left as it is', () => {
    const again = queued('again', 0, { status: { attempt: 1, attempts: 1 } });
    const more = { data: { concurrency: '0' }, nowMs: start + 3_600_000, lease: aLease([]) };
    const { of, holders } = reconcile([again], { ...more, pods: [anImporter(again, { leaving: true })] });
    expect(holders).toBeUndefined();
    expect(of('replace')).toEqual([]);
  });

  test('the slot of a deleted DataVolume stays while its claim exists, for which CDI may still create an importer', () => {
    const before = known({ name: 'before', status: { phase: 'Syncing', attempt: 1 } });
    const again = queued('before', 2, { status: { revision: 2 } });
    const more = { data: { concurrency: '1' }, lease: aLease([aHolder(before, 1)]) };
    const images = [again, queued('b', 1)];
    const held = reconcile(images, { ...more, claims: [aClaim(aDataVolume(before))] });
    expect(held).toMatchObject({ holders: undefined, started: [] });
    expect(held.of('requeueAfter')).toMatchObject([{ about: { metadata: { name: 'before' } }, afterMs: 2000 }]);
    expect(reconcile(images, more)).toMatchObject({ holders: ['b'], started: ['b'] });
  });

  test.each([
    ['of another attempt', { attempt: 7 }, {}],
    ['of no DataVolume', {}, { ownerReferences: [] }],
    ['Terminating for over ten minutes', {}, { deletionTimestamp: at(-3600) }],
  ])('a claim %s holds no slot', (_, attempt, metadata) => {
    const before = known({ name: 'before', status: { phase: 'Syncing', attempt: 1 } });
    const again = queued('before', 2, { status: { revision: 2 } });
    const claim = aClaim(aDataVolume(before, attempt));
    const claims = [{ ...claim, metadata: { ...claim.metadata, ...metadata } }];
    const more = { data: { concurrency: '1' }, lease: aLease([aHolder(before, 1)]), claims };
    expect(reconcile([again, queued('b', 1)], more)).toMatchObject({ started: ['b'] });
  });

  test('a holder of which nothing was read keeps its slot, whatever its image says by now', () => {
    const before = known({ name: 'before', status: { phase: 'Retrying', attempt: 1, nextAttemptAt: at(3600) } });
    const more = { data: { concurrency: '1' }, lease: aLease([aHolder(before, 1)]) };
    const images = [before, queued('b', 1)];
    expect(reconcile(images, { ...more, unreadHolders: new Set([before.metadata.uid]) })).toMatchObject({
      holders: undefined,
      started: [],
    });
    expect(reconcile(images, more)).toMatchObject({ holders: ['b'], started: ['b'] });
  });

  test('a slot that only an importer Pod shows is listed for its image', () => {
    const running = known({ name: 'running', status: { phase: 'Syncing', attempt: 1, attempts: 1 } });
    expect(reconcile([running], { lease: aLease([]), pods: [anImporter(running)] })).toMatchObject({
      holders: ['running'],
    });
  });

  test('nothing is granted for ten seconds after the Lease was rebuilt', () => {
    expect(reconcile([queued('a', 1)], { lease: aLease([], 91) }).started).toEqual([]);
    expect(reconcile([queued('a', 1)], { lease: aLease([], 90) }).started).toEqual(['a']);
  });
  test('a Lease that says it was rebuilt at a time to come was rebuilt now: no clock that is ahead holds it off for longer', () => {
    const { started, of } = reconcile([queued('a', 1)], { lease: aLease([], 1_000_000) });
    expect(started).toEqual([]);
    expect(of('replace')).toMatchObject([{ object: { spec: { acquireTime: '2026-01-01T00:01:40.000000Z' } } }]);
    expect(reconcile([queued('a', 1)], { lease: aLease([], 105) }).of('replace')).toEqual([]);
  });
  test('a status that was wiped loses no attempt', () => {
    const before = known({ name: 'a', status: { phase: 'Syncing', attempt: 2, attempts: 2 } });
    const { of } = reconcile([aVMDiskImage({ name: 'a' })], {
      dataVolumes: [aDataVolume(before)],
      data: { concurrency: '0' },
    });
    expect(of('patchStatus')[0]?.status).toMatchObject({ phase: 'Queued', attempt: 2, attempts: 2 });
    expect(of('recordEvent')).toMatchObject([{ type: 'Warning', reason: 'StatusRebuilt' }]);
  });
  test('a status that was wiped while the content changed takes no earlier download for one of the new content', () => {
    const image = known({ name: 'a', status: { phase: 'Syncing', attempt: 2, attempts: 2 } });
    const download = DataVolume.parse(dataVolumeFor(image, 1, 2));
    const changed = aVMDiskImage({ name: 'a', spec: { url: 'https://s3.eu-west-1.amazonaws.com/images/b.qcow2' } });
    const rebuilt = (wiped: VMDiskImage) =>
      reconcile([wiped], { dataVolumes: [download], data: { concurrency: '0' } }).of('patchStatus')[0]?.status;
    expect(rebuilt(changed)).toMatchObject({ phase: 'Queued', revision: 2, attempt: 0, attempts: 0 });
    expect(rebuilt(aVMDiskImage({ name: 'a' }))).toMatchObject({ phase: 'Queued', revision: 1, attempt: 2 });
  });
  test.each([
    ['a snapshot of it exists', [], [4, 2], { revision: 5, attempt: 0, attempts: 0 }],
    ['a snapshot and its volume exist', [{ revision: 4, attempt: 2 }], [4], { revision: 5, attempt: 0 }],
    ['a later revision was downloading', [{ revision: 5, attempt: 2 }], [4], { revision: 5, attempt: 2, attempts: 2 }],
  ])('no revision of a wiped status is used again if %s', (_, volumes, snapshots, status) => {
    const image = aVMDiskImage({ name: 'a' });
    const { of } = reconcile([image], {
      dataVolumes: volumes.map((options) => aDataVolume(image, options)),
      snapshots: [
        ...snapshots.map((revision) => aSnapshot(image, { revision, ready: true })),
        aSnapshot(aVMDiskImage({ name: 'b' }), { revision: 9 }),
      ],
      data: { concurrency: '0' },
    });
    expect(of('patchStatus')[0]?.status).toMatchObject({ phase: 'Queued', ...status });
    expect(of('recordEvent')).toMatchObject([{ type: 'Warning', reason: 'StatusRebuilt' }]);
  });
});

describe('a phase that another version of the functions writes', () => {
  test('does not mean a new image: only a Warning is recorded', () => {
    const image = aVMDiskImage({
      name: 'a',
      status: { phase: 'Verifying', revision: 1, attempt: 1, contentDigest: 'x' },
    });
    const { actions, of } = reconcile([image], {
      isAudit: true,
      dataVolumes: [aDataVolume(image, { phase: 'Succeeded' })],
    });
    expect(actions.map(({ do: verb }) => verb)).toEqual(['recordEvent']);
    expect(of('recordEvent')).toMatchObject([{ type: 'Warning', reason: 'UnknownPhase', once: 'Verifying' }]);
  });
});

describe('revisions', () => {
  const done = known({
    name: 'a',
    status: { phase: 'Succeeded', attempt: 1, attempts: 1, snapshot: { name: 's', revision: 1 } },
  });
  test.each([
    ['url', { spec: { url: 'https://s3.eu-west-1.amazonaws.com/images/b.qcow2' } }, true],
    ['diskSize', { spec: { diskSize: '30Gi' } }, true],
    ['published content', { annotations: { 'pelotech.ot/published-content': '2' } }, true],
    ['the requested sync', { annotations: { 'pelotech.ot/sync-requested': '2' } }, true],
    ['name', { spec: { name: 'other' } }, false],
    ['secretRef', { spec: { secretRef: 'other' } }, false],
  ])('another %s', (_, change, isNew) => {
    const changed = aVMDiskImage({ name: 'a', ...change, ...(done.status ? { status: done.status } : {}) });
    const { of } = reconcile([changed], { data: { concurrency: '0' } });
    expect(of('patchStatus').map(({ status }) => [status.phase, status.revision])).toEqual(
      isNew ? [['Queued', 2]] : [],
    );
  });
  test('the last snapshot stays usable while a new revision waits', () => {
    const changed = aVMDiskImage({
      name: 'a',
      spec: { diskSize: '30Gi' },
      ...(done.status ? { status: done.status } : {}),
    });
    const conditions = reconcile([changed]).of('patchStatus')[0]?.status.conditions;
    expect(conditions).toMatchObject([
      { type: 'Ready', status: 'True' },
      { type: 'Reconciling', status: 'True' },
    ]);
  });
  test('a lost snapshot is synced again only if it is used', () => {
    const lost = (count: number) =>
      known({
        name: 'a',
        status: {
          ...done.status,
          references: { count },
          conditions: [
            { type: 'SnapshotLost', status: 'True', reason: 'SnapshotLost', message: '', lastTransitionTime: at(0) },
          ],
        },
      });
    expect(reconcile([lost(0)]).phases).toEqual([]);
    expect(reconcile([lost(1)], { data: { concurrency: '0' } }).phases).toEqual(['a Queued']);
    const failed = lost(1);
    const again = aVMDiskImage({ name: 'a', status: { ...failed.status, phase: 'Failed', revision: 2 } });
    expect(reconcile([again]).phases).toEqual([]);
  });
  test.each<[string, VMDiskImageStatus]>([
    ['waits for its snapshot', { phase: 'Snapshotting' }],
    ['Failed without it', { phase: 'Failed', snapshottingAt: at(0) }],
  ])('an image that was restored with another uid and %s is downloaded once', (_, status) => {
    const before = aVMDiskImage({ name: 'a', uid: 'uid-before' });
    const dataVolume = aDataVolume(before).metadata.name;
    const restored = known({ name: 'a', status: { attempt: 1, attempts: 1, dataVolume, ...status } });
    const { of } = reconcile([restored], { data: { concurrency: '0' } });
    expect(of('patchStatus').map(({ status: written }) => written)).toMatchObject([
      { phase: 'Queued', revision: 2, attempts: 0, dataVolume: null },
    ]);
    const own = known({ name: 'a', status: { ...restored.status, dataVolume: aDataVolume(restored).metadata.name } });
    expect(reconcile([own]).phases).toEqual([]);
  });
  test('a new revision during a sync waits for the slot of the old one', () => {
    const image = known({ name: 'a', status: { phase: 'Syncing', attempt: 1, attempts: 1 } });
    const changed = aVMDiskImage({
      name: 'a',
      spec: { diskSize: '30Gi' },
      ...(image.status ? { status: image.status } : {}),
    });
    const { phases, started } = reconcile([changed], {
      lease: aLease([aHolder(image)]),
      dataVolumes: [aDataVolume(image)],
    });
    expect({ phases, started }).toEqual({ phases: ['a Queued'], started: [] });
  });
});

describe('what is refused', () => {
  const reasonOf = (result: ReturnType<typeof reconcile>) =>
    result
      .of('patchStatus')
      .map(({ status }) => [status.phase, (status.conditions as { reason: string }[])[0]?.reason]);
  test.each([
    ['an address of the cluster', {}, { url: 'http://10.0.0.1/images/a.qcow2' }, 'SourceNotAllowed'],
    ['a StorageClass that is not there', {}, { storageClass: 'gp9' }, 'StorageClassMissing'],
    ['a VolumeSnapshotClass that is not there', {}, { snapshotClass: 'none' }, 'SnapshotClassMissing'],
  ])('%s', (_, data, spec, reason) => {
    expect(reasonOf(reconcile([queued('a', 1, { spec })], { data: { concurrency: '2', ...data } }))).toEqual([
      ['Failed', reason],
    ]);
  });
  test('a new image that is not allowed is never given a slot', () => {
    const { phases, started } = reconcile([aVMDiskImage({ name: 'new', namespace: 'tenant-a' })]);
    expect({ phases, started }).toEqual({ phases: ['new Queued', 'new Failed'], started: [] });
  });
  test.each(['Forbidden', 'Rejected'])('only the audit retries a DataVolume that was refused (%s)', (reason) => {
    const conditions = [{ type: 'Ready', status: 'False' as const, reason, message: '', lastTransitionTime: at(0) }];
    const failed = known({ name: 'a', status: { phase: 'Failed', conditions } });
    const audit = { isAudit: true, data: { concurrency: '0' } };
    expect(reconcile([failed]).phases).toEqual([]);
    expect(reconcile([failed], audit).phases).toEqual(['a Queued']);
    const downloaded = known({ name: 'a', status: { ...failed.status, snapshottingAt: at(0) } });
    expect(reconcile([downloaded], audit).phases).toEqual([]);
  });
  test('a finished download waits for its snapshot, even if a user removed its time from the status', () => {
    const conditions = [
      { type: 'Ready', status: 'False' as const, reason: 'Rejected', message: '', lastTransitionTime: at(0) },
    ];
    const failed = known({ name: 'a', status: { phase: 'Failed', attempt: 1, attempts: 1, conditions } });
    const audit = { isAudit: true, data: { concurrency: '0' } };
    const volume = aDataVolume(failed, { phase: 'Succeeded' });
    expect(reconcile([failed], { ...audit, dataVolumes: [volume] }).phases).toEqual([]);
    expect(reconcile([failed], { ...audit, dataVolumes: [aDataVolume(failed, { phase: 'Failed' })] }).phases).toEqual([
      'a Queued',
    ]);
    const deleted = { ...volume, metadata: { ...volume.metadata, deletionTimestamp: at(0) } };
    expect(reconcile([failed], { ...audit, dataVolumes: [deleted] }).phases).toEqual(['a Queued']);
  });
  test('classes of two drivers', () => {
    const others = { ...classes, snapshot: new Map([['ebs-snapshot', 'ceph']]) };
    expect(reasonOf(reconcile([queued('a', 1)], { classes: others }))).toEqual([['Failed', 'DriverMismatch']]);
  });
  test('a refusal is taken back when its cause is gone', () => {
    const failed = known({
      name: 'a',
      status: {
        phase: 'Failed',
        conditions: [
          { type: 'Ready', status: 'False', reason: 'StorageClassMissing', message: '', lastTransitionTime: at(0) },
        ],
      },
    });
    expect(reconcile([failed], { data: { concurrency: '0' } }).phases).toEqual(['a Queued']);
    expect(reconcile([failed], { classes: { ...classes, storage: new Map() } }).phases).toEqual([]);
  });
  test('a DataVolume the API server refuses fails the image with its words', () => {
    const image = known({ name: 'a', status: { phase: 'Syncing', attempt: 1, attempts: 1, dataVolume: 'seen' } });
    const name = aDataVolume(image).metadata.name;
    const result = reconcile([image], {
      lease: aLease([aHolder(image)]),
      refusals: new Map([[`DataVolume vmdi-farm/${name}`, { reason: 'Invalid', message: 'no' }]]),
    });
    expect(reasonOf(result)).toEqual([['Failed', 'Rejected']]);
    expect(result.of('patchStatus')[0]?.status.attempts).toBe(0);
  });
  test('an attempt that ends in this reconcile keeps its slot until the next: a rival may just have begun it', () => {
    const image = known({ name: 'a', status: { phase: 'Syncing', attempt: 1, attempts: 1 } });
    const lease = aLease([aHolder(image)]);
    const refusals = new Map([
      [`DataVolume vmdi-farm/${aDataVolume(image).metadata.name}`, { reason: 'Invalid', message: 'no' }],
    ]);
    expect(reconcile([image], { lease, refusals }).holders).toBeUndefined();
    const ended = known({ name: 'a', status: { phase: 'Failed', attempt: 1 } });
    expect(reconcile([ended], { lease }).holders).toEqual([]);
    expect(reconcile([ended], { lease, dataVolumes: [aDataVolume(image)] }).holders).toBeUndefined();
  });
  test.each(['concurrency', 'retryLimit', 'retryBackoffDuration', 'allowedSources', 'syncTimeout'])(
    'a policy whose %s does not parse starts nothing',
    (key) => {
      expect(reconcile([queued('a', 1)], { data: { [key]: ' ' } }).started).toEqual([]);
    },
  );
  test('attempts beyond a lowered retryLimit are not begun', () => {
    expect(
      reasonOf(
        reconcile([queued('a', 1, { status: { attempts: 3, attempt: 3 } })], {
          data: { concurrency: '1', retryLimit: '1' },
        }),
      ),
    ).toEqual([['Failed', 'AttemptsSpent']]);
  });
});
