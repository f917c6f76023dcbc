import { afterAll, expect, test } from 'vitest';
import { applyManifests } from '../../../../deploy/manifests.ts';
import { DataVolume } from '../../../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../../../shared/kinds/coordination/lease.ts';
import type { KubernetesObject, Resource } from '../../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../../shared/kinds/snapshot/volume-snapshot.ts';
import { serveFunction } from '../../../support/harness/function-harness.ts';
import floor, { floorDefinition, Image, slotsLease, slotsVariable } from './function.ts';

const harness = await serveFunction(floor);
const { kube } = harness;
afterAll(harness.close);

const refOf = (name: string) => ({ namespace: 'vmdi-farm', name });
const report = (resource: Resource, name: string, status: object) =>
  kube.patch(resource, refOf(name), { status }, { subresource: 'status' });
const phaseOf = async (name: string) => (await kube.get(Image, refOf(name)))?.status?.phase;
const isThere = async (resource: Resource, name: string) => (await kube.get(resource, refOf(name))) !== undefined;

test('images go through one slot, each event makes the next write, and the last one makes none', async () => {
  process.env[slotsVariable] = '1';
  await applyManifests(kube, [floorDefinition as unknown as KubernetesObject]);
  const { apiVersion, kind } = Image;
  await kube.create(Lease, { apiVersion: Lease.apiVersion, kind: Lease.kind, metadata: slotsLease });
  for (const name of ['first', 'second']) {
    const spec = { url: 'https://s3/images/a.qcow2', secretRef: 's3-reader', diskSize: '1Gi' };
    await kube.create(Image, { apiVersion, kind, metadata: refOf(name), spec });
    expect(await harness.changed(Image, refOf(name), 'add')).toBe(202);
    expect(await phaseOf(name)).toBe('Queued');
    expect(await harness.changed(Image, refOf(name))).toBe(202);
  }
  expect([await phaseOf('first'), await phaseOf('second')]).toEqual(['Syncing', 'Queued']);
  expect([await isThere(DataVolume, 'first'), await isThere(DataVolume, 'second')]).toEqual([true, false]);

  await report(DataVolume, 'first', { phase: 'Succeeded' });
  expect(await harness.changed(DataVolume, refOf('first'))).toBe(202);
  expect(await phaseOf('second')).toBe('Syncing');
  expect(await isThere(DataVolume, 'second')).toBe(true);

  await report(VolumeSnapshot, 'first', { readyToUse: true });
  expect(await harness.changed(VolumeSnapshot, refOf('first'))).toBe(202);
  expect(await phaseOf('first')).toBe('Ready');

  const before = (await kube.get(Image, refOf('first')))?.metadata.resourceVersion;
  for (const resource of [Image, DataVolume, VolumeSnapshot]) await harness.changed(resource, refOf('first'));
  expect((await kube.get(Image, refOf('first')))?.metadata.resourceVersion).toBe(before);
});
