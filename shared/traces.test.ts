import { expect, test } from 'vitest';
import { contentDigest } from './images/content-digest.ts';
import { KupenStackMachine } from './kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from './kinds/kupenstack/virtual-network.ts';
import { Volume } from './kinds/kupenstack/volume.ts';
import { VirtualMachine } from './kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from './kinds/pelotech/vm-disk-image.ts';
import { Workspace } from './kinds/pelotech/workspace.ts';
import type { Resource } from './kinds/resource.ts';
import { traceBegunBy, traceOf } from './traces.ts';

const apiVersion = 'pelotech.ot/v1alpha1';
const metadata = {
  name: 'one',
  namespace: 'lab',
  uid: '8f3c',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '',
};
const image = (status?: object) => ({
  apiVersion,
  kind: 'VMDiskImage',
  metadata,
  spec: { url: 'https://s3/a' },
  status,
});
const synced = contentDigest(image() as unknown as VMDiskImage);

test.each([
  ['an image that no function has looked at', undefined, 1],
  ['one that is as it was synced', { phase: 'Succeeded', revision: 3, contentDigest: synced }, 3],
  ['one that says something else than what was synced', { phase: 'Succeeded', revision: 3, contentDigest: 'b' }, 4],
])('%s begins, or goes on with, its revision', (_, status, revision) => {
  expect(traceBegunBy(image(status))).toEqual({ uid: '8f3c', revision });
});

test('a machine of ours has a life, and what is no kind of ours none', () => {
  expect(traceBegunBy({ apiVersion, kind: 'VirtualMachine', metadata })).toEqual({ machine: { uid: '8f3c' } });
  expect(traceBegunBy({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata })).toBeUndefined();
  expect(traceBegunBy({ apiVersion: 'v1', kind: 'Secret', metadata })).toBeUndefined();
});

test.each<[Resource, object]>([
  [VMDiskImage, { uid: '8f3c', revision: 1 }],
  [VirtualMachine, { machine: { uid: '8f3c' } }],
  [Workspace, { workspace: { uid: '8f3c' }, images: [], machines: [] }],
  [KupenStackMachine, { machine: { uid: '8f3c' } }],
  [VirtualNetwork, { network: { uid: '8f3c' } }],
  [Volume, { volume: { uid: '8f3c' } }],
])('$kind has a trace of its own', ({ apiVersion, kind }, trace) => {
  expect(traceOf({ apiVersion, kind, metadata })).toEqual(trace);
});

test('an object of another kind has no trace, and a trace carries the phase', () => {
  expect(traceOf({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata })).toBeUndefined();
  const status = { phase: 'Syncing', revision: 2 };
  expect(traceOf({ apiVersion, kind: 'VMDiskImage', metadata, status })).toEqual({ uid: '8f3c', ...status });
});
