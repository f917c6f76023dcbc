import { describe, expect, test } from 'vitest';
import { machineUidLabel } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, VMDiskImage, type VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { madeForWorkspaces } from '../../../shared/kinds/pelotech/workspace.ts';
import { at, aVMDiskImage, type ImageOptions } from '../../support/builders/images.ts';
import { aVirtualMachine } from '../../support/builders/machines.ts';
import { aMachineOf, aWorkspace } from '../../support/builders/workspaces.ts';
import {
  aHistory,
  aPolicy,
  by,
  claimOf,
  download,
  expectBroken,
  expectHolds,
  gone,
  granted,
  leaving,
  snapshot,
} from './a-history.ts';
import { check } from './check.ts';
import type { Invariant } from './follow.ts';
import { takenDown } from './plain-rules.ts';
import { s10Finalizer } from './s10-finalizer.ts';
import { s11NoOrphan } from './s11-no-orphan.ts';
import { s12Prune } from './s12-prune.ts';
import { s13Counts } from './s13-counts.ts';
import { s14Ownership } from './s14-ownership.ts';

const ready = (status: 'True' | 'False', reason = 'SnapshotReady') => ({
  conditions: [{ type: 'Ready', status, reason, message: '', lastTransitionTime: at(0) }],
});
const usable: VMDiskImageStatus = {
  phase: 'Succeeded',
  revision: 1,
  attempt: 1,
  snapshot: { name: 'ubuntu-r1', revision: 1 },
  references: { count: 0 },
  unreferencedSince: at(0),
  ...ready('True'),
};
const image = (options: ImageOptions = {}) => aVMDiskImage({ status: usable, ...options });
const only = (invariant: Invariant, written: Parameters<typeof aHistory>[0], options = {}) =>
  check(aHistory(written, options), [invariant]);

describe('S10', () => {
  const deleted = image({ deleted: true });
  const down = image({ deleted: true, status: { ...usable, ...ready('False', takenDown) } });
  const released = image({ deleted: true, finalizers: [], status: down.status as VMDiskImageStatus });
  const machine = aVirtualMachine();
  const release = by('prune', released, { isGone: true, since: 200 });
  const left = [download(image()), claimOf(download(image())), snapshot(image())];

  test('the finalizer is removed when no object is left', () => {
    const written = [by('prune', down), ...left.map((object) => gone(object)), release];
    expectHolds(aHistory(written, { before: [deleted, ...left] }));
  });

  test.each(left.map((object) => ({ kind: object.kind, object })))('an existing $kind is reported', ({ object }) => {
    const history = aHistory([by('prune', down), release], { before: [deleted, object] });
    expectBroken(
      s10Finalizer,
      history,
      '102',
      `lost its finalizer while its ${object.kind} ${object.metadata.name} exists`,
    );
    expectHolds(aHistory([by('prune', down), release], { before: [deleted, leaving(object)] }));
  });

  test('an occupied slot is reported', () => {
    const history = aHistory([by('prune', down), release], { before: [deleted, granted(deleted)] });
    expectBroken(s10Finalizer, history, '102', 'while its slot exists');
  });

  test('the objects of an image are not deleted while a machine uses it', () => {
    const history = aHistory([by('prune', down, { since: 100 })], { before: [deleted, machine] });
    expectBroken(s10Finalizer, history, '101', 'the objects of ubuntu are deleted while machine lab/demo uses it');
  });

  test('the finalizer stays while a machine has a clone as its disk', () => {
    const status = {
      rootDisk: { name: 'demo', image: 'uid-ubuntu', revision: 1 },
      conditions: [
        { type: 'DiskReady', status: 'True' as const, reason: 'Some', message: '', lastTransitionTime: at(0) },
      ],
    };
    const cloned = aVirtualMachine({ status });
    expectBroken(
      s10Finalizer,
      aHistory([release], { before: [down, cloned] }),
      '101',
      'while machine lab/demo uses it',
    );
  });

  test('a machine that is newer than the deletion, being deleted, or not allowed to name the image does not retain it', () => {
    const isUnused = (other: typeof machine, more: Parameters<typeof aHistory>[0] = []) =>
      expect(only(s10Finalizer, [...more, by('prune', down, { since: 200 })], { before: [deleted, other] })).toEqual(
        [],
      );
    isUnused(aVirtualMachine({ createdAfterSeconds: 5 }));
    isUnused(leaving(machine));
    isUnused(machine, [aPolicy({ imageNamespaces: 'other' })]);
  });

  test('neither a function nor the garbage collector deletes the snapshot of a machine, but a user may', () => {
    const held = { ...snapshot(image(), { ready: true }) };
    const named = image({ deleted: true, status: { ...usable, snapshot: { name: held.metadata.name, revision: 1 } } });
    const taken = (writer: string) =>
      aHistory([by(writer, held, { isGone: true })], { before: [named, machine, held] });
    const message = 'is deleted by garbage-collector while machine lab/demo uses ubuntu';
    expectBroken(s10Finalizer, taken('garbage-collector'), '101', message);
    expectBroken(s10Finalizer, taken('follow-sync'), '101', 'is deleted by follow-sync');
    expect(check(taken('user'), [s10Finalizer])).toEqual([]);
    expect(check(taken('snapshotter'), [s10Finalizer])).toEqual([]);
  });

  test('a function may delete a snapshot whose content does not exist', () => {
    const empty = snapshot(image(), { error: 'VolumeSnapshotContent is missing' });
    const named = image({ status: { ...usable, snapshot: { name: empty.metadata.name, revision: 1 } } });
    const deleted = [by('follow-sync', empty, { isGone: true })];
    expect(only(s10Finalizer, deleted, { before: [named, machine, empty] })).toEqual([]);
  });

  test('a finalizer that a user removed is back by the next audit', () => {
    const bare = image({ finalizers: [] });
    const still = { before: [machine], stillFromMs: 0, auditMs: 60_000, isFaultless: true };
    expectBroken(s10Finalizer, aHistory([bare], still), '101', 'ubuntu ends without its finalizer');
    const left = [bare, by('user', bare, { isGone: true, atMs: Date.parse(at(90)) })];
    expectBroken(s10Finalizer, aHistory(left, still), '102', 'was deleted while machine lab/demo uses it');
    expect(only(s10Finalizer, [bare, image()], still)).toEqual([]);
    expect(only(s10Finalizer, [bare, gone(bare)], still)).toEqual([]);
  });

  test('later changes and external writes are not judged', () => {
    const [written] = [[machine, by('prune', down, { since: 100 })]];
    expect(only(s10Finalizer, written, { before: [deleted] })).toEqual([]);
    expect(only(s10Finalizer, [machine, down], { before: [deleted] })).toEqual([]);
    expect(only(s10Finalizer, [by('user', released)], { before: [deleted, machine] })).toEqual([]);
  });
});

describe('S11', () => {
  const child = snapshot(image());

  test('an object of an existing image, or without the label, is no orphan', () => {
    const { metadata, ...rest } = child;
    const { [imageUidLabel]: _, ...labels } = metadata.labels ?? {};
    const unlabelled = { ...rest, metadata: { ...metadata, uid: 'unlabelled', labels } };
    expect(only(s11NoOrphan, [image(), child, unlabelled], { stillFromMs: 0 })).toEqual([]);
  });

  test('at rest an object that outlives its machine is reported', () => {
    const disk = {
      ...download(image()),
      metadata: { ...download(image()).metadata, labels: { [machineUidLabel]: 'uid-demo' } },
    };
    expect(only(s11NoOrphan, [disk, aVirtualMachine()], { stillFromMs: 0 })).toEqual([]);
    expectBroken(s11NoOrphan, aHistory([disk], { stillFromMs: 0 }), '101', 'outlives the machine it was made for');
  });

  test('at rest a Ready image has the snapshots of keepRevisions, and no volume unless it is retained', () => {
    const own = (revision: number) => snapshot(image(), { revision, ready: true });
    const end = { stillFromMs: 0 };
    expect(only(s11NoOrphan, [image(), own(1), own(2)], end)).toEqual([]);
    expectBroken(
      s11NoOrphan,
      aHistory([image(), own(1), own(2), own(3)], end),
      '104',
      'keeps 3 snapshots that it does not use, expected at most 2',
    );
    expectBroken(
      s11NoOrphan,
      aHistory([image(), own(1), download(image())], end),
      '103',
      'is Ready and still has volumes',
    );
    const retained = [aPolicy({ retainSourceVolume: 'true' }), image(), own(1), download(image())];
    expect(only(s11NoOrphan, retained, end)).toEqual([]);
  });

  test('the volume of the newest revision is needed if its snapshot is lost while an earlier revision is pinned', () => {
    const pinned = (attempt: number) => image({ status: { ...usable, revision: 2, attempt } });
    const own = (revision: number) => snapshot(image(), { revision, ready: true });
    const end = { stillFromMs: 0 };
    expect(only(s11NoOrphan, [pinned(1), own(1), download(pinned(1))], end)).toEqual([]);
    const message = 'is Ready and still has volumes';
    expectBroken(s11NoOrphan, aHistory([pinned(1), own(1), own(2), download(pinned(1))], end), '104', message);
    expectBroken(s11NoOrphan, aHistory([pinned(2), own(1), download(pinned(1))], end), '103', message);
    expectBroken(s11NoOrphan, aHistory([pinned(1), own(1), download(image())], end), '103', message);
  });

  test('at rest an object that outlives its image is reported, even if a new image has the same name', () => {
    const written = [image(), child, download(image()), gone(image()), gone(download(image()))];
    const recreated = aVMDiskImage({ uid: 'another' });
    const history = aHistory([...written, recreated], { stillFromMs: 0 });
    expectBroken(s11NoOrphan, history, '106', `VolumeSnapshot ${child.metadata.name} outlives the image`);
    expect(only(s11NoOrphan, written)).toEqual([]);
  });
});

describe('S12', () => {
  const policy = aPolicy({ prune: 'WhenUnreferenced', pruneAfter: '1h' });
  const late = Date.parse(at(3600));
  const pruned = (more = {}) => by('prune', leaving(image()), { atMs: late, since: 100, ...more });
  const kept = { uid: 'uid-ubuntu', resourceVersion: '10' };

  test('an image that was unused for pruneAfter may be deleted, with preconditions', () => {
    expect(only(s12Prune, [pruned({ deletion: kept })], { before: [policy, image()] })).toEqual([]);
  });

  test('a machine that used it when the reconcile began is reported', () => {
    const history = aHistory([pruned()], { before: [policy, image(), aVirtualMachine()] });
    expectBroken(s12Prune, history, '101', 'ubuntu was pruned while lab/demo uses it');
    expect(only(s12Prune, [aVirtualMachine(), pruned()], { before: [policy, image()] })).toEqual([]);
  });

  test('too early, without a policy, annotated to be kept, or without preconditions: each is reported', () => {
    const broken = (
      before: (typeof policy)[],
      written: Parameters<typeof aHistory>[0],
      message: string,
      of = image(),
    ) => expectBroken(s12Prune, aHistory(written, { before: [...before, of] }), '101', message);
    broken([policy], [pruned({ atMs: late - 60_000 })], 'before it was due');
    broken([], [pruned()], 'by no policy');
    broken(
      [policy],
      [pruned({ deletion: { uid: 'uid-ubuntu' } })],
      'without the preconditions uid and resourceVersion',
    );
    broken([policy], [pruned()], 'before it was due', image({ annotations: { 'pelotech.ot/keep': 'true' } }));
  });

  test('a workspace that waited for it when the reconcile began is reported', () => {
    const lab = aWorkspace({ spec: { vms: [aMachineOf()] } });
    const history = aHistory([pruned()], { before: [policy, image(), lab] });
    expectBroken(s12Prune, history, '101', 'ubuntu was pruned while Workspace lab waits for it');
    expect(only(s12Prune, [lab, pruned()], { before: [policy, image()] })).toEqual([]);
  });

  test('an image made for workspaces is deleted after workspaceImagesKeptFor, or at once if it was never downloaded', () => {
    const made = image({ labels: madeForWorkspaces });
    const goneAt = (atMs: number, one = made) => by('prune', leaving(one), { atMs, since: 100, deletion: kept });
    const gone = goneAt(late);
    expect(only(s12Prune, [gone], { before: [made, aPolicy({ workspaceImagesKeptFor: '1h' })] })).toEqual([]);
    expectBroken(s12Prune, aHistory([gone], { before: [made] }), '101', 'before it was due');
    const early = Date.parse(at(1));
    const begun = image({ labels: madeForWorkspaces, status: { ...usable, phase: 'Syncing', snapshot: undefined } });
    expect(only(s12Prune, [goneAt(early, begun)], { before: [begun] })).toEqual([]);
    const used = aHistory([gone], { before: [made, aVirtualMachine()] });
    expectBroken(s12Prune, used, '101', 'while lab/demo uses it');
  });

  test('if the writer is unknown, the annotation identifies prune', () => {
    const marked = image({ annotations: { 'pelotech.ot/pruned-as-unreferenced-since': at(0) } });
    const deletion = { object: leaving(marked), atMs: late };
    const users = [policy, aVirtualMachine()];
    expectBroken(s12Prune, aHistory([deletion], { before: [...users, marked] }), '101', 'while lab/demo uses it');
    expect(only(s12Prune, [{ ...deletion, object: leaving(image()) }], { before: [...users, image()] })).toEqual([]);
  });
});

describe('S13', () => {
  const used = image({ status: { ...usable, references: { count: 1 }, unreferencedSince: undefined } });

  test('at rest the count is the number of machines that use the image', () => {
    expect(only(s13Counts, [aVirtualMachine(), used], { stillFromMs: 0 })).toEqual([]);
    expect(only(s13Counts, [leaving(aVirtualMachine()), image()], { stillFromMs: 0 })).toEqual([]);
  });

  test('a workspace that waits for it counts until its own machine does', () => {
    const lab = aWorkspace({ spec: { vms: [aMachineOf()] } });
    expect(only(s13Counts, [lab, used], { stillFromMs: 0 })).toEqual([]);
    const its = aVirtualMachine({ namespace: 'ws-lab' });
    expect(only(s13Counts, [lab, its, used], { stillFromMs: 0 })).toEqual([]);
    expectBroken(s13Counts, aHistory([lab, image()], { stillFromMs: 0 }), '102', 'counts 0 references, expected 1');
  });

  test('a wrong count is reported, but only at rest', () => {
    expectBroken(s13Counts, aHistory([used], { stillFromMs: 0 }), '101', 'ubuntu counts 1 references, expected 0');
    expect(only(s13Counts, [used])).toEqual([]);
  });

  test('a missing unreferencedSince is reported', () => {
    const missing = image({ status: { ...usable, unreferencedSince: undefined } });
    expectBroken(s13Counts, aHistory([missing], { stillFromMs: 0 }), '101', 'is unreferenced since never');
  });

  test('a negative count is reported at any time', () => {
    const odd = image({ status: { ...usable, references: { count: -1 } } });
    expectBroken(s13Counts, aHistory([odd]), '101', 'ubuntu counts -1 references');
  });
});

describe('S14', () => {
  const machine = aVirtualMachine({ finalizers: [] });
  const bare = image({ finalizers: [] });
  const annotated = (key: string) => image({ finalizers: [], annotations: { [key]: 'x' } });

  test('a function may write its own fields', () => {
    const prunes = annotated('pelotech.ot/pruned-as-unreferenced-since');
    expect(only(s14Ownership, [by('start-sync', image())], { before: [bare] })).toEqual([]);
    expect(only(s14Ownership, [by('prune', prunes)], { before: [bare] })).toEqual([]);
    expect(only(s14Ownership, [by('count-refs', aVirtualMachine())], { before: [machine] })).toEqual([]);
    const published = image({ finalizers: [], spec: { url: 'https://other/images/ubuntu' } });
    expect(only(s14Ownership, [by('preload', published)], { before: [bare] })).toEqual([]);
    expect(only(s14Ownership, [by('user', published)], { before: [bare] })).toEqual([]);
  });

  test('a function that writes a foreign spec, annotation, label or finalizer is reported', () => {
    const broken = (writer: string, object: VMDiskImage, message: string) =>
      expectBroken(s14Ownership, aHistory([by(writer, object)], { before: [bare] }), '101', message);
    broken(
      'start-sync',
      image({ finalizers: [], spec: { diskSize: '1Gi' } }),
      'changed the spec of VMDiskImage ubuntu',
    );
    broken('start-sync', annotated('pelotech.ot/keep'), 'changed annotations pelotech.ot/keep');
    broken('follow-sync', image(), 'changed finalizer pelotech.ot/disk-image');
    const grown = { ...machine, spec: { ...machine.spec, resources: { cpu: '4', memory: '2Gi' } } };
    expectBroken(s14Ownership, aHistory([by('provision-vm', grown)], { before: [machine] }), '101', 'changed the spec');
    const edited = aHistory([by('start-sync', aPolicy({ concurrency: '9' }))], { before: [aPolicy({})] });
    expect(check(edited, [s14Ownership])).toMatchObject([{ revision: '101' }]);
  });

  test('compose-workspace may repair the machines that it created, and no others', () => {
    const { apiVersion, kind, metadata } = aWorkspace();
    const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
    const ofLab = { ...machine, metadata: { ...machine.metadata, ownerReferences: [owner] } };
    const grown = <T extends typeof machine>(one: T) => ({
      ...one,
      spec: { ...one.spec, resources: { cpu: '4', memory: '2Gi' } },
    });
    expect(only(s14Ownership, [by('compose-workspace', grown(ofLab))], { before: [ofLab] })).toEqual([]);
    expect(only(s14Ownership, [by('compose-workspace', grown(machine))], { before: [machine] })).toHaveLength(1);
    expect(only(s14Ownership, [by('provision-vm', grown(ofLab))], { before: [ofLab] })).toHaveLength(1);
  });

  test('if the writer is unknown, managedFields name it', () => {
    const managed = (manager: string, fieldsV1: object) =>
      VMDiskImage.parse({ ...bare, metadata: { ...bare.metadata, managedFields: [{ manager, fieldsV1 }] } });
    const keeps = { 'f:metadata': { 'f:annotations': { 'f:pelotech.ot/keep': {} } } };
    const finalizer = { 'f:metadata': { 'f:finalizers': { '.': {}, 'v:"pelotech.ot/disk-image"': {} } } };
    const broken = (object: VMDiskImage, message: string) =>
      expectBroken(s14Ownership, aHistory([object], { before: [bare] }), '101', message);
    broken(managed('start-sync', { 'f:spec': { 'f:url': {} } }), 'start-sync changed the spec');
    broken(managed('prune', keeps), 'prune changed annotations pelotech.ot/keep');
    broken(managed('follow-sync', finalizer), 'follow-sync changed finalizers pelotech.ot/disk-image');
    expect(only(s14Ownership, [managed('start-sync', finalizer)], { before: [bare] })).toEqual([]);
    expect(only(s14Ownership, [managed('kubectl', keeps)], { before: [bare] })).toEqual([]);
  });
});
