import { describe, expect, test } from 'vitest';
import type { Action } from '../../shared/actions.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { parsePolicy } from '../../shared/policy.ts';
import {
  aDataVolume,
  aSnapshot,
  at,
  aVMDiskImage,
  type ImageOptions,
  start,
} from '../../test/support/builders/images.ts';
import { aVirtualMachine, type MachineOptions } from '../../test/support/builders/machines.ts';
import { aMachineOf, aWorkspace } from '../../test/support/builders/workspaces.ts';
import { decide } from './decide.ts';
import type { Left, ObservedImage } from './observed.ts';

const nowMs = start + 3_600_000;
const nothing: Left = { dataVolumes: [], claims: [], snapshots: [], holdsSlot: false };
const claim = PersistentVolumeClaim.parse({ metadata: { name: 'x', namespace: 'vmdi-farm', uid: 'claim' } });

type Given = Partial<Omit<ObservedImage, 'left'>> & { left?: Partial<Left>; data?: Record<string, string> };
const reconcile = ({ left, data = {}, ...more }: Given) =>
  decide({
    nowMs,
    policy: parsePolicy({ data }),
    image: aVMDiskImage(),
    machines: [],
    workspaces: [],
    left: { ...nothing, ...left },
    ...more,
  });
const verbs = (actions: readonly Action[]) => actions.map(({ do: verb }) => verb);
const statusIn = (actions: readonly Action[]) =>
  actions.find((action) => action.do === 'patchStatus')?.status as VMDiskImageStatus | undefined;
const condition = (actions: readonly Action[]) =>
  statusIn(actions)?.conditions?.find(({ type }) => type === 'DeletionHeld');

/** An image with a snapshot, deleted at the beginning of the story. */
const deleted = (status: VMDiskImageStatus = {}, more: ImageOptions = {}) =>
  aVMDiskImage({
    deleted: true,
    status: {
      phase: 'Succeeded',
      revision: 1,
      snapshot: { name: 'ubuntu-r1', revision: 1 },
      conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: at(0) }],
      ...status,
    },
    ...more,
  });
const held = (message: string) => [
  { type: 'DeletionHeld', status: 'True' as const, reason: 'Referenced', message, lastTransitionTime: at(0) },
];
/** A machine that was there before. */
const machine = (name: string, more: MachineOptions = {}) =>
  aVirtualMachine({ name, createdAfterSeconds: -60, ...more });
const withDisk = (image: string, disk: 'True' | 'False' = 'True'): Partial<MachineOptions> => ({
  status: {
    rootDisk: { name: 'root', image, revision: 1 },
    conditions: [{ type: 'DiskReady', status: disk, reason: 'x', message: '', lastTransitionTime: at(0) }],
  },
});

describe('a deleted image that no machine uses', () => {
  const image = aVMDiskImage({ deleted: true, status: { phase: 'Syncing', revision: 1, attempt: 1 } });
  test('loses its volumes and snapshots', () => {
    const left = { dataVolumes: [aDataVolume(image)], snapshots: [aSnapshot(image)], claims: [claim] };
    expect(verbs(reconcile({ image, left }))).toEqual(['delete', 'delete']);
  });
  test('keeps the finalizer while a DataVolume or a snapshot is left, whatever becomes of a claim', () => {
    expect(verbs(reconcile({ image, left: { dataVolumes: [aDataVolume(image)], claims: [claim] } }))).toEqual([
      'delete',
    ]);
    expect(reconcile({ image, left: { snapshots: [aSnapshot(image, { leaving: true })], claims: [claim] } })).toEqual(
      [],
    );
  });
  test('loses its claims right before the finalizer, for no event of their end is heard', () => {
    const leaving = { ...claim, metadata: { ...claim.metadata, uid: 'leaving', deletionTimestamp: at(0) } };
    const [first, second] = reconcile({ image, left: { claims: [leaving, claim] } });
    expect(first).toMatchObject({ do: 'delete', of: { metadata: { uid: 'claim' } } });
    expect(second).toMatchObject({ do: 'patchMetadata', metadata: { finalizers: [] } });
  });
  test('keeps it while it holds a slot, and the event is wanted again', () => {
    expect(reconcile({ image, left: { holdsSlot: true } })).toMatchObject([{ do: 'redeliver' }]);
  });
  test('loses it when nothing is left, which is published and counted with the rule', () => {
    expect(reconcile({ image })).toMatchObject([
      { do: 'patchMetadata', metadata: { finalizers: [] } },
      { do: 'publish', type: 'ot.pelotech.disk-image.pruned.v1', data: { rule: 'Deleted' } },
      { do: 'measure', metric: 'ot.image.pruned', attributes: { rule: 'Deleted' } },
    ]);
  });
  test("leaves another's finalizer alone", () => {
    const shared = aVMDiskImage({ deleted: true, finalizers: ['other/one', 'pelotech.ot/disk-image'] });
    expect(reconcile({ image: shared })[0]).toMatchObject({ metadata: { finalizers: ['other/one'] } });
    expect(reconcile({ image: aVMDiskImage({ deleted: true, finalizers: ['other/one'] }) })).toEqual([]);
  });
  test('is reported not Ready once, before its snapshot is deleted', () => {
    const before = deleted();
    const left = { snapshots: [aSnapshot(before)] };
    const actions = reconcile({ image: before, left });
    expect(verbs(actions)).toEqual(['patchStatus', 'delete']);
    const status = statusIn(actions);
    expect(status?.conditions).toMatchObject([{ type: 'Ready', status: 'False', reason: 'TakenDown' }]);
    expect(verbs(reconcile({ image: deleted(status), left }))).toEqual(['delete']);
  });
  test('reports that and the end of DeletionHeld in one write', () => {
    const before = deleted({ conditions: [...(deleted().status?.conditions ?? []), ...held('…')] });
    const actions = reconcile({ image: before, left: { snapshots: [aSnapshot(before)] } });
    expect(verbs(actions)).toEqual(['patchStatus', 'delete']);
    expect(statusIn(actions)?.conditions?.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`)).toEqual([
      'DeletionHeld False NotReferenced',
      'Ready False TakenDown',
    ]);
  });
  test('reports it if it was held before, then loses what it held', () => {
    const before = deleted({ conditions: held('…') });
    const actions = reconcile({ image: before, left: { snapshots: [aSnapshot(before)] } });
    expect(verbs(actions)).toEqual(['patchStatus', 'delete']);
    expect(condition(actions)).toMatchObject({ status: 'False', reason: 'NotReferenced' });
  });
});

describe('a deleted image', () => {
  const isHeld = (image: ObservedImage['image'], machines: readonly VirtualMachine[], data = {}) => {
    const actions = reconcile({ image, machines, data, left: { snapshots: [aSnapshot(image)] } });
    return !actions.some((action) => action.do === 'delete');
  };
  test.each<[string, ObservedImage['image'], VirtualMachine, boolean]>([
    ['is held by a machine with a disk from it', deleted(), machine('a', withDisk('uid-ubuntu')), true],
    ['is held by one whose disk is yet to be cloned', deleted(), machine('a'), true],
    ['is held by one of the same second', deleted(), machine('a', { createdAfterSeconds: 0 }), true],
    [
      'is not held by a later machine, which waits for the next image',
      deleted(),
      machine('a', { createdAfterSeconds: 1 }),
      false,
    ],
    [
      'is held by one with a disk also while its snapshot is not usable',
      deleted({ conditions: [] }),
      machine('a', withDisk('uid-ubuntu')),
      true,
    ],
    [
      'is held by one whose disk waits for its first start',
      deleted(),
      machine('a', { ...withDisk('uid-ubuntu', 'False'), createdAfterSeconds: 9 }),
      true,
    ],
    [
      'is not held by one whose disk is not cloned once there is nothing to clone it from',
      deleted({ conditions: [] }),
      machine('a', withDisk('uid-ubuntu', 'False')),
      false,
    ],
    [
      'without a usable snapshot is not held by a machine without a disk',
      deleted({ conditions: [] }),
      machine('a'),
      false,
    ],
    [
      'is not held by one with a disk from an image of that name before it',
      deleted(),
      machine('a', withDisk('uid-of-another')),
      false,
    ],
    ['is not held by a machine that is being deleted', deleted(), machine('a', { deleted: true }), false],
    [
      'is not held from a namespace that may not name it',
      deleted(),
      machine('a', { spec: { vmDiskImageRef: { name: 'ubuntu', namespace: 'private' } } }),
      false,
    ],
  ])('%s', (_, image, one, expected) => {
    expect(isHeld(image, [one])).toBe(expected);
  });
  test('is not retained if its namespace is being deleted and its snapshot is deleted or being deleted', () => {
    const image = deleted();
    const machines = [machine('a', withDisk('uid-ubuntu'))];
    const verbsOf = (left: Partial<Left>) => verbs(reconcile({ image, machines, left }));
    expect(verbsOf({ isNamespaceDeleting: true })).toContain('patchMetadata');
    expect(verbsOf({ isNamespaceDeleting: true, snapshots: [aSnapshot(image, { leaving: true })] })).toEqual([
      'patchStatus',
    ]);
    expect(
      condition(reconcile({ image, machines, left: { isNamespaceDeleting: true, snapshots: [aSnapshot(image)] } })),
    ).toMatchObject({ status: 'True' });
    expect(condition(reconcile({ image, machines }))).toMatchObject({ status: 'True' });
  });
  test('is held by every machine while imageNamespaces is invalid', () => {
    const one = machine('a', { spec: { vmDiskImageRef: { name: 'ubuntu', namespace: 'private' } } });
    expect(isHeld(deleted(), [one], { imageNamespaces: '' })).toBe(true);
  });
});

describe('what holds a deleted image', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const seven = names.map((name) => machine(name));
  const message = (actions: readonly Action[]) => condition(actions)?.message;
  test('is reported in a condition and an Event, its download ends, its snapshot stays', () => {
    const image = deleted();
    const left = { dataVolumes: [aDataVolume(image)], snapshots: [aSnapshot(image)] };
    const actions = reconcile({ image, machines: [machine('a')], left });
    expect(verbs(actions)).toEqual(['patchStatus', 'recordEvent', 'delete']);
    expect(actions[2]).toMatchObject({ resource: { kind: 'DataVolume' } });
    expect(condition(actions)).toMatchObject({ status: 'True', reason: 'Referenced' });
    // kubectl get has the reason of Ready as a column; the image stays usable.
    expect(statusIn(actions)?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'True',
      reason: 'DeletionHeld',
      message: message(actions),
    });
    expect(message(actions)).toContain('used by 1 machine: lab/a. It is removed');
    expect(statusIn(actions)?.message).toBe(message(actions));
  });
  test('is named up to five, and how many more there are', () => {
    expect(message(reconcile({ image: deleted(), machines: seven }))).toContain(
      'used by 7 machines: lab/a, lab/b, lab/c, lab/d, lab/e and 2 more.',
    );
    expect(message(reconcile({ image: deleted(), machines: seven.slice(0, 5) }))).toContain(
      'lab/d, lab/e. It is removed',
    );
  });
  test('is written where it differs, and the Event comes once', () => {
    const image = deleted(statusIn(reconcile({ image: deleted(), machines: seven })));
    expect(reconcile({ image, machines: seven })).toEqual([]);
    expect(verbs(reconcile({ image, machines: seven.slice(1) }))).toEqual(['patchStatus']);
  });
  test('leaves it to follow-sync to say that the snapshot is lost', () => {
    const lost = {
      type: 'Ready',
      status: 'False',
      reason: 'SnapshotLost',
      message: '',
      lastTransitionTime: at(0),
    } as const;
    const holder = machine('a', withDisk('uid-ubuntu'));
    const actions = reconcile({ image: deleted({ conditions: [lost] }), machines: [holder] });
    expect(statusIn(actions)?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'DeletionHeld Referenced',
      'Ready SnapshotLost',
    ]);
  });
});

describe('an image that was not deleted', () => {
  const hourAgo = { unreferencedSince: at(0), references: { count: 0, by: [] } };
  const unused = (more: ImageOptions = {}) => aVMDiskImage({ status: hourAgo, ...more });
  const policy = { prune: 'WhenUnreferenced', pruneAfter: '1h' };
  const annotated = (value: string) => unused({ annotations: { 'pelotech.ot/keep': value } });

  test.each<[string, Given, string[]]>([
    ['unused for pruneAfter goes', {}, ['patchMetadata', 'delete', 'recordEvent']],
    ['unused for a little less stays', { nowMs: nowMs - 1 }, []],
    ['stays under the policy by default', { data: {} }, []],
    ['stays under Never', { data: { ...policy, prune: 'Never' } }, []],
    ['stays under DryRun, which says what would go', { data: { ...policy, prune: 'DryRun' } }, ['recordEvent']],
    ['stays while prune does not parse', { data: { ...policy, prune: 'Always' } }, []],
    ['stays while pruneAfter does not parse', { data: { ...policy, pruneAfter: 'soon' } }, []],
    ['stays while imageNamespaces is invalid', { data: { ...policy, imageNamespaces: '' } }, []],
    [
      'goes while another key does not parse',
      { data: { ...policy, concurrency: 'x' } },
      ['patchMetadata', 'delete', 'recordEvent'],
    ],
    ['that is to be kept stays', { image: annotated('true') }, []],
    ['stays with a keep that says nothing', { image: annotated('') }, []],
    ['is deleted with keep "false"', { image: annotated('false') }, ['patchMetadata', 'delete', 'recordEvent']],
    ['that was not counted yet stays', { image: aVMDiskImage({ createdAfterSeconds: -9999 }) }, []],
    [
      'whose time cannot be read stays',
      { image: unused({ status: { ...hourAgo, unreferencedSince: 'long ago' } }) },
      [],
    ],
    ['stays where a machine has just come that its count does not show', { machines: [machine('a')] }, []],
    [
      'is deleted despite a machine that is being deleted',
      { machines: [machine('a', { deleted: true })] },
      ['patchMetadata', 'delete', 'recordEvent'],
    ],
  ])('%s', (_, given, expected) => {
    expect(verbs(reconcile({ image: unused(), data: policy, ...given }))).toEqual(expected);
  });
  test('goes only as it was observed, and both Events say why and how to keep it', () => {
    const gone = reconcile({ image: unused(), data: policy });
    expect(gone[1]).toMatchObject({ do: 'delete', unchanged: true });
    const said = reconcile({ image: unused(), data: { ...policy, prune: 'DryRun' } });
    for (const [action, words] of [
      [gone[2], ': deleted.'],
      [said[0], 'would be deleted.'],
    ] as const) {
      expect(action).toMatchObject({ type: 'Normal', once: '2026-01-01T01:00:00Z' });
      for (const word of [words, at(0), '1h', 'pelotech.ot/keep'])
        expect((action as { message: string }).message).toContain(word);
    }
  });
  test('tells at its end by which rule it went, and of a deletion before which it was used again it was by hand', () => {
    const [patch] = reconcile({ image: unused(), data: policy });
    const { annotations = {} } = (patch as { metadata: { annotations?: Record<string, string> } }).metadata;
    const gone = (status: VMDiskImageStatus) =>
      reconcile({ image: aVMDiskImage({ deleted: true, annotations, status }) })[1];
    expect(gone(hourAgo)).toMatchObject({ do: 'publish', data: { rule: 'WhenUnreferenced' } });
    expect(gone({ unreferencedSince: at(99) })).toMatchObject({ do: 'publish', data: { rule: 'Deleted' } });
  });
  test('that a crash left marked is not marked again', () => {
    const [patch] = reconcile({ image: unused(), data: policy });
    const { annotations = {} } = (patch as { metadata: { annotations?: Record<string, string> } }).metadata;
    expect(verbs(reconcile({ image: unused({ annotations }), data: policy }))).toEqual(['delete', 'recordEvent']);
  });
});

describe('an image that was made for a workspace', () => {
  const unusedWorkspaceImage = (more: ImageOptions = {}) =>
    aVMDiskImage({
      labels: { 'pelotech.ot/made-for': 'workspaces' },
      status: { phase: 'Succeeded', references: { count: 0 }, unreferencedSince: at(0) },
      ...more,
    });
  const lab = aWorkspace({ spec: { vms: [aMachineOf()] } });

  const unusedSince = { references: { count: 0 }, unreferencedSince: at(0) };
  const keptFor = (workspaceImagesKeptFor: string) => ({ prune: 'Never', workspaceImagesKeptFor });

  test.each([
    unusedWorkspaceImage({
      status: { phase: 'Succeeded', snapshot: { name: 'demo-r1', revision: 1 }, ...unusedSince },
    }),
    unusedWorkspaceImage({ status: { phase: 'Snapshotting', ...unusedSince } }),
  ])('stays, once downloaded, for workspaceImagesKeptFor, regardless of the policy for others', (image) => {
    expect(reconcile({ image, data: { prune: 'Never' } })).toEqual([]);
    expect(reconcile({ image, data: keptFor('1h'), nowMs: start + 3_599_000 })).toEqual([]);
    expect(reconcile({ image, data: keptFor('soon'), nowMs: start + 1e9 })).toEqual([]);
    const deleted = ['patchMetadata', 'delete', 'recordEvent'];
    expect(verbs(reconcile({ image, data: keptFor('1h'), nowMs: start + 3_600_000 }))).toEqual(deleted);
    // A clock that is behind that of count-refs makes no difference.
    expect(verbs(reconcile({ image, data: keptFor('0s'), nowMs: start - 5000 }))).toEqual(deleted);
  });
  test('is deleted at once while it downloads without a user', () => {
    const image = unusedWorkspaceImage({ status: { phase: 'Syncing', ...unusedSince } });
    expect(verbs(reconcile({ image }))).toContain('delete');
  });
  test.each<[string, Given]>([
    ['a workspace waits for it', { workspaces: [lab] }],
    ['a machine uses it', { machines: [machine('a')] }],
    ['a user asked to keep it', { image: unusedWorkspaceImage({ annotations: { 'pelotech.ot/keep': 'true' } }) }],
    ['that was not counted yet', { image: unusedWorkspaceImage({ status: { phase: 'Succeeded' } }) }],
    ['it was made by people', { image: unusedWorkspaceImage({ labels: {} }) }],
    [
      'a pipeline has published it since',
      {
        image: unusedWorkspaceImage({
          labels: { 'pelotech.ot/made-for': 'workspaces', 'app.kubernetes.io/created-by': 'preload' },
        }),
      },
    ],
    ['the policy cannot be read', { data: { imageNamespaces: ' ' } }],
  ])('stays where %s', (_, given) => {
    expect(reconcile({ image: unusedWorkspaceImage(), ...given })).toEqual([]);
  });
  test('says why it went', () => {
    const image = unusedWorkspaceImage({
      deleted: true,
      annotations: { 'pelotech.ot/pruned-as-unreferenced-since': at(0) },
    });
    expect(reconcile({ image })).toContainEqual(
      expect.objectContaining({ do: 'measure', attributes: { rule: 'LastReference' } }),
    );
  });
});
