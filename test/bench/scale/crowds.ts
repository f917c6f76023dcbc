import { startObjectStore } from '../../../deploy/local/object-store/object-store.ts';
import { snapshotFor } from '../../../functions/follow-sync/snapshot/snapshot.ts';
import { fixture } from '../../../functions/inspect-source/fixtures/read.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { imageReferenceFinalizer, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { policyRef } from '../../../shared/policy.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import { allowedSources, aVMDiskImage } from '../../support/builders/images.ts';
import { trustPublicationKey } from '../../support/builders/publications.ts';
import { statusOf } from '../finished-images.ts';
import { type Crowd, farm, lab, many, nameOf, type Outside, places } from './crowd.ts';
import { openStackCrowds } from './openstack-crowds.ts';

const status = { subresource: 'status' } as const;

const createImage = (kube: Kube, name: string, spec: Partial<VMDiskImage['spec']> = {}) =>
  kube.create(VMDiskImage, {
    metadata: { name, namespace: farm, finalizers: [diskImageFinalizer] },
    spec: aVMDiskImage({ name, spec: { diskSize: '64Mi', ...spec } }).spec,
  });

const patchImage = (kube: Kube, name: string, of: object) =>
  kube.patch(VMDiskImage, { namespace: farm, name }, { status: of }, status);

async function createFinished(kube: Kube, name: string, users?: number) {
  const image = await createImage(kube, name);
  const { unreferencedSince, references, ...common } = statusOf(image);
  await patchImage(kube, name, users ? common : { ...common, references, unreferencedSince });
  const { metadata } = await kube.create(VolumeSnapshot, snapshotFor(image, 1, name));
  await kube.patch(VolumeSnapshot, metadata, { status: { readyToUse: true, restoreSize: '64Mi' } }, status);
}

async function createQueued(kube: Kube, name: string, spec?: Partial<VMDiskImage['spec']>) {
  const image = await createImage(kube, name, spec);
  const { queuedAt, contentDigest, revision } = statusOf(image);
  await patchImage(kube, name, { phase: 'Queued', message: 'Waiting.', queuedAt, contentDigest, revision });
}

const onImage = (name: string) => ({ namespace: farm, name });

const queued: Crowd = {
  beside: 'queued images',
  counts: [10, 1000, 5000],
  make: async (kube, from, to) => void (await many(from, to, (index) => createQueued(kube, nameOf('queued', index)))),
  events: {
    'change of an image': { about: VMDiskImage, ref: onImage(nameOf('queued', 9)) },
    'fact that it is unsettled': { fact: 'unsettled', ref: onImage(nameOf('queued', 9)) },
  },
};

const finished: Crowd = {
  beside: 'finished images',
  counts: [10, 1000, 10_000],
  make: async (kube, from, to) => void (await many(from, to, (index) => createFinished(kube, nameOf('done', index)))),
  events: {
    'change of an image': { about: VMDiskImage, ref: onImage(nameOf('done', 9)) },
    'fact that it is unsettled': { fact: 'unsettled', ref: onImage(nameOf('done', 9)) },
    'fact about an image': { fact: 'succeeded', ref: onImage(nameOf('done', 9)) },
    'fact that it may be deleted': { fact: 'prunable', ref: onImage(nameOf('done', 9)) },
  },
};

interface MachinesOf {
  beside: string;
  made: string;
  image(kube: Kube, name: string): Promise<unknown>;
  fact: string;
}

const machinesOf = ({ beside, made, image, fact }: MachinesOf): Crowd => ({
  beside,
  counts: [10, 1000, 5000],
  async make(kube, from, to) {
    if (from === 0) await image(kube, made);
    await many(from, to, (index) =>
      kube.create(VirtualMachine, {
        metadata: { name: nameOf(made, index), namespace: lab, finalizers: [imageReferenceFinalizer] },
        spec: {
          resources: { cpu: '2', memory: '2Gi' },
          vmDiskImageRef: onImage(made),
          mode: 'FailIfNotExist',
          users: [{ name: 'student', ssh_authorized_keys: ['x'.repeat(700)] }],
        },
      }),
    );
  },
  events: {
    'change of a machine': { about: VirtualMachine, ref: { namespace: lab, name: nameOf(made, 9) } },
    'creation of a machine': { about: VirtualMachine, verb: 'add', ref: { namespace: lab, name: nameOf(made, 9) } },
    'fact about their image': { fact, ref: onImage(made), grows: ['provision-vm', 'ensure-vmdi'] },
  },
});

const waiting = machinesOf({
  ...{ beside: 'machines that wait for one image', made: 'waits' },
  ...{ image: createQueued, fact: 'queued' },
});
const running = machinesOf({
  ...{ beside: 'machines of one image', made: 'runs' },
  ...{ image: (kube, name) => createFinished(kube, name, 1), fact: 'succeeded' },
});

const workspaceName = (index: number) => nameOf('team', index);
const inWorkspace = { namespace: namespaceOf(workspaceName(5)), name: 'vm-0' };

const workspaces: Crowd = {
  beside: 'workspaces of 5 machines',
  counts: [10, 200],
  async make(kube, from, to) {
    if (from === 0) {
      await createFinished(kube, 'shared', 1);
      await createFinished(kube, 'rare', 1);
    }
    const vmsOn = (last: string) =>
      Array.from({ length: 5 }, (_, vm) => ({
        name: `vm-${vm}`,
        backingVMDiskImage: vm === 4 ? last : 'shared',
        resources: { cpu: '2', memory: '2Gi' },
      }));
    await many(from, to, (index) =>
      kube.create(Workspace, {
        metadata: { name: workspaceName(index) },
        spec: { vms: vmsOn(index === 5 ? 'rare' : 'shared') },
      }),
    );
  },
  events: {
    'change of a workspace': { about: Workspace, ref: { name: workspaceName(5) } },
    'change of a machine': { about: VirtualMachine, ref: inWorkspace },
    'fact about an image of one workspace': { fact: 'succeeded', ref: onImage('rare') },
  },
};

/** A store of one disk, and the key of a pipeline. */
async function startStore(kube: Kube): Promise<Outside> {
  const store = await startObjectStore({ keys: [], publicBuckets: ['public'] });
  const url = `${store.url}/public/disk.qcow2`;
  await store.put('public', 'disk.qcow2', await fixture('disk.qcow2'));
  await trustPublicationKey(kube);
  const data = { inspectTimeout: '30s', allowedSources: `${allowedSources}\n${url}` };
  await kube.patch(ConfigMap, policyRef, { data });
  return { url, asked: () => ({ requests: store.requests(url), writes: 0 }), stop: store.close };
}

const sources: Crowd = {
  beside: 'images, half of them queued, half refreshed',
  counts: [10, 1000, 5000],
  functions: ['inspect-source', 'preload'],
  start: startStore,
  async make(kube, from, to, url) {
    const spec = { url, sourceType: 'http', secretRef: undefined } as const;
    await many(from, to, async (index) => {
      const name = nameOf('source', index);
      if (index % 2 === 1) return createQueued(kube, name, spec);
      const image = await createImage(kube, name, { ...spec, refresh: 'OnChange' });
      await patchImage(kube, name, statusOf(image));
    });
  },
  events: {
    'fact that an image is queued': {
      fact: 'queued',
      ref: onImage(nameOf('source', 9)),
      before: (kube) => patchImage(kube, nameOf('source', 9), { source: null }),
    },
    'publication of an image': {
      published: { name: 'published', url: 'https://s3.eu-west-1.amazonaws.com/images/published.qcow2' },
    },
  },
};

export const crowds: Readonly<Record<string, Crowd>> = {
  ...{ queued, finished, waiting, running, workspaces },
  ...{ sources, ...openStackCrowds },
};

/** The namespace of all crowds. */
export async function makePlace(kube: Kube): Promise<void> {
  for (const name of places) {
    const found = await kube.get(Namespace, { name });
    if (!found) await kube.create(Namespace, { metadata: { name } });
  }
}
