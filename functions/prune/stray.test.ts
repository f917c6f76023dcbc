import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataVolumeName, snapshotName } from '../../shared/images/children.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import {
  adoptSnapshot,
  diskImageFinalizer,
  imageUidLabel,
  managedBy,
  type VMDiskImage,
} from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { aDataVolume, aSnapshot, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { createImage } from '../../test/support/harness/create.ts';
import { type FunctionHarness, serveFunction } from '../../test/support/harness/function-harness.ts';
import { decide } from './decide.ts';
import declaration from './index.ts';
import type { Stray } from './stray.ts';

const old = aVMDiskImage({ uid: 'uid-of-the-old' });
const newer = (status: VMDiskImage['status'] = {}, annotations: Record<string, string> = {}) =>
  aVMDiskImage({ uid: 'uid-of-the-new', status, annotations });
const snapshot = aSnapshot(old, { ready: true });
const made = aDataVolume(old);
const volume = { ...made, metadata: { ...made.metadata, creationTimestamp: at(0) } };
const downloaded = DataVolume.parse({ ...volume, status: { phase: 'Succeeded' } });
const claim = PersistentVolumeClaim.parse({ metadata: volume.metadata });
const owned = {
  ...claim,
  metadata: { ...claim.metadata, ownerReferences: [{ ...claim.metadata, apiVersion: 'v1', kind: 'DataVolume' }] },
};
const verbs = (more: Partial<Stray>) =>
  decide({ nowMs: start + 600_000, isAudit: true, stray: snapshot, ...more }).map(({ do: verb }) => verb);

describe('what was made for an image that no longer exists', () => {
  test.each<[string, Partial<Stray>, string[]]>([
    ['a snapshot is deleted, and an Event reports it', {}, ['delete', 'recordEvent']],
    ['a DataVolume is deleted', { stray: volume }, ['delete', 'recordEvent']],
    ['a claim is deleted', { stray: claim }, ['delete', 'recordEvent']],
    ['a claim that has an owner is left to the garbage collector', { stray: owned }, []],
    ['it is deleted if an image of another uid has its name', { image: newer() }, ['delete', 'recordEvent']],
    ['it is kept if the second read finds its image', { image: old }, []],
    [
      'it is kept if machines of the restored image are cloned from it',
      { image: newer({ phase: 'Succeeded', snapshot: { name: snapshot.metadata.name, revision: 1 } }) },
      [],
    ],
    [
      'it is kept if the restored image may go back to it',
      { image: newer({ phase: 'Succeeded', revisions: [{ revision: 1, snapshot: snapshot.metadata.name }] }) },
      [],
    ],
    [
      'it is kept if the restored image adopts it',
      { image: newer({}, { [adoptSnapshot]: snapshot.metadata.name }) },
      [],
    ],
    ['it is kept for ten minutes: a restore may still be running', { nowMs: start + 599_999 }, []],
    ['a download is deleted at once: it occupies a slot', { stray: volume, nowMs: start }, ['delete', 'recordEvent']],
    ['a downloaded volume is kept for ten minutes', { stray: downloaded, nowMs: start + 599_999 }, []],
    ['it is left alone while it is being deleted', { stray: aSnapshot(old, { leaving: true }) }, []],
    [
      'it is kept if its name does not match its label',
      { stray: { ...snapshot, metadata: { ...snapshot.metadata, name: 'golden' } } },
      [],
    ],
    ['it is kept unless this is an audit', { isAudit: false }, []],
  ])('%s', (_, given, expected) => {
    expect(verbs(given)).toEqual(expected);
  });
  test('it is deleted only as it was observed', () => {
    expect(decide({ nowMs: start + 600_000, isAudit: true, stray: snapshot })[0]).toMatchObject({ unchanged: true });
  });
});

describe('an audit', () => {
  let harness: FunctionHarness;
  const namespace = 'vmdi-farm';
  beforeAll(async () => {
    harness = await serveFunction(declaration);
  });
  afterAll(() => harness.close());

  const createFor = async (of: { name: string; uid: string }) => {
    const labels = { ...managedBy, [imageUidLabel]: of.uid };
    const [held, download] = [snapshotName(of, 1), dataVolumeName(of, 1, 1)];
    const metadata = (name: string) => ({ name, namespace, labels });
    await harness.kube.create(VolumeSnapshot, {
      metadata: metadata(held),
      spec: { source: { persistentVolumeClaimName: 'x' } },
    });
    await harness.kube.create(DataVolume, {
      metadata: metadata(download),
      spec: { source: { http: { url: 'https://a/b' } }, storage: { resources: { requests: { storage: '1Gi' } } } },
    });
    await harness.kube.create(PersistentVolumeClaim, {
      metadata: metadata(download),
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    return held;
  };
  const left = async (kind: Resource) =>
    (await harness.kube.list(kind, { namespace }))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name);

  test('deletes what a backup restored without its image, ten minutes later, and nothing that is in use', async () => {
    const lost = { name: 'lost', uid: 'uid-before-the-restore' };
    await createFor(lost);
    const used = await createFor({ name: 'used', uid: 'uid-before-the-restore' });
    const metadata = { finalizers: [diskImageFinalizer], annotations: { [adoptSnapshot]: used } };
    const restored = await createImage(harness.kube, 'used', { metadata });
    const own = await createFor({ name: 'used', uid: restored.metadata.uid });
    expect(await harness.audit()).toBe(202);
    expect(await left(VolumeSnapshot)).toHaveLength(3);
    const later = harness.another((client) => client, 600_000);
    expect(await later.audit()).toBe(202);
    expect((await left(VolumeSnapshot)).sort()).toEqual([own, used].sort());
    expect(await left(DataVolume)).toEqual([`${own}-a1`]);
    expect(await left(PersistentVolumeClaim)).toEqual([`${own}-a1`]);
  });
});
