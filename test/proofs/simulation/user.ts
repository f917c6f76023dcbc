import { imagePublished } from '../../../shared/events.ts';
import type { Signed } from '../../../shared/function.ts';
import { dataVolumeName, snapshotName } from '../../../shared/images/children.ts';
import { keepAnnotation } from '../../../shared/images/pruning.ts';
import { publicationKeysRef, signatureAttributes, signedContent } from '../../../shared/images/signature.ts';
import { leaseRef, slotsAnnotation } from '../../../shared/images/slots.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import {
  adoptSnapshot,
  imageUidLabel,
  syncRequested,
  VMDiskImage,
  type VMDiskImage as VMDiskImageObject,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { VolumeSnapshotClass } from '../../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../../shared/kinds/storage/storage-class.ts';
import { parsePolicy, policyRef } from '../../../shared/policy.ts';
import { ApiError, isRefusal } from '../../../shared/runtime/errors.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { DomainEvent } from '../../../shared/runtime/publish.ts';
import { imageNamespace, machineNamespace, snapshotClass, soundPolicy, storageClass } from './cluster.ts';
import { type Operation, publicationKeys } from './plan.ts';
import { type StoreWriter, storeKeys } from './store-writer.ts';

type Do<K extends Operation['do']> = Extract<Operation, { do: K }>;

/** The spec of an image. */
const specOf = (name: string) => ({
  storageClass: 'gp3',
  snapshotClass: 'ebs-snapshot',
  url: `https://s3.eu-west-1.amazonaws.com/images/${name}.qcow2`,
  diskSize: '64Mi',
  secretRef: 's3-reader',
});

/** What a user does beside writing objects, and what his images say of refresh. */
interface Means {
  post(event: DomainEvent, signed?: Signed): void;
  replaceSource(url: string): void;
  refresh: { refresh?: 'OnChange' };
}

/** Simulates users and pipelines: performs operations, and ignores refusals of the API server. */
export class User {
  readonly #kube: Kube;
  readonly #writer: StoreWriter;
  readonly #means: Means;
  #done = 0;
  /** The content of the Lease before each edit. */
  readonly #leases: string[] = ['[]'];

  /** `writer` does what a manifest cannot: choose the propagation of a deletion, and write as another version. */
  constructor(kube: Kube, writer: StoreWriter, means: Means) {
    this.#kube = kube;
    this.#writer = writer;
    this.#means = means;
  }

  async carryOut(operation: Operation): Promise<void> {
    this.#done++;
    try {
      await this.#carryOut(operation);
    } catch (error) {
      // The object may already exist, or no longer; a request that the API server refuses is a mistake of the plan.
      if (!(error instanceof ApiError) || isRefusal(error)) throw error;
    }
  }

  /** Repairs the policy keys that block syncs, and keeps the others. */
  async mend(): Promise<void> {
    await this.#restore();
    const { faults } = parsePolicy(await this.#kube.get(ConfigMap, policyRef));
    const keys = [
      ...faults.map(({ key }) => key),
      'concurrency',
      'slotsPerNamespace',
      'egressBudget',
      'allowedSources',
      'imageNamespaces',
    ];
    const data = Object.fromEntries(keys.map((key) => [key, soundPolicy[key] ?? null]));
    await this.#kube.patch(ConfigMap, policyRef, { data });
  }

  /** Restores missing objects and deletes obstacles. */
  async #restore(): Promise<void> {
    const policy = { metadata: { ...policyRef }, data: { ...soundPolicy } };
    for (const make of [
      () => this.#kube.create(ConfigMap, policy),
      () => this.#kube.create(StorageClass, storageClass),
      () => this.#kube.create(VolumeSnapshotClass, snapshotClass),
    ]) {
      await make().catch(unlessThere);
    }
    const ofStrangers = { namespace: imageNamespace, labelSelector: `${strangers}` };
    for (const resource of [DataVolume, VolumeSnapshot]) {
      for (const { metadata } of await this.#kube.list<KubernetesObject>(resource, ofStrangers))
        await this.#kube.delete(resource, metadata);
    }
  }

  #carryOut(operation: Operation): Promise<unknown> | undefined {
    switch (operation.do) {
      case 'createImage':
        return this.#kube.create(VMDiskImage, {
          metadata: imageRef(operation.image),
          spec: { ...specOf(operation.image), ...this.#means.refresh },
        });
      case 'deleteImage':
        return this.#kube.delete(VMDiskImage, imageRef(operation.image));
      case 'deleteForeground':
        return this.#writer.delete(storeKeys.images, imageRef(operation.image), 'Foreground');
      case 'deleteOrphan':
        return this.#writer.delete(storeKeys.images, imageRef(operation.image), 'Orphan');
      case 'dropFinalizers':
        return this.#kube.patch(VMDiskImage, imageRef(operation.image), { metadata: { finalizers: null } });
      case 'forceDelete':
        return this.#forceDelete(operation.image);
      case 'restoreImage':
        return this.#restoreImage(operation);
      case 'adopt':
        return this.#adopt(operation.image);
      case 'unadopt':
        return this.#annotate(operation.image, { [adoptSnapshot]: null });
      case 'useRevision':
        return this.#annotate(operation.image, { 'pelotech.ot/use-revision': String(operation.revision) });
      case 'deleteChild':
        return this.#deleteChild(operation);
      case 'deleteMachineChild':
        return this.#kube.delete(machineChildren[operation.of].resource, {
          namespace: machineNamespace,
          name: machineChildren[operation.of].nameOf(operation.machine),
        });
      case 'createWorkspace':
        return this.#kube.create(Workspace, workspaceOf(operation));
      case 'deleteWorkspace':
        return this.#kube.delete(Workspace, { name: operation.workspace });
      case 'unknownPhase':
        this.#showUnknownPhase(operation.image);
        break;
      case 'requestSync':
        return this.#annotate(operation.image, { [syncRequested]: String(this.#done) });
      case 'keep':
        return this.#annotate(operation.image, { [keepAnnotation]: 'true' });
      case 'changeUrl': {
        const { url } = specOf(`${operation.image}-${this.#done}`);
        return this.#kube.patch(VMDiskImage, imageRef(operation.image), { spec: { url } });
      }
      case 'createMachine':
        return this.#createMachine(operation);
      case 'deleteMachine':
        return this.#kube.delete(VirtualMachine, machineRef(operation.machine));
      case 'changeMachine':
        return this.#kube.patch(VirtualMachine, machineRef(operation.machine), {
          spec: { resources: { memory: `${this.#done}Gi` } },
        });
      case 'policy': {
        return this.#kube.patch(ConfigMap, policyRef, { data: { [operation.key]: operation.value } });
      }
      case 'deletePolicy':
        return this.#kube.delete(ConfigMap, policyRef);
      case 'deleteStorageClass':
        return this.#kube.delete(StorageClass, storageClass.metadata);
      case 'deleteSnapshotClass':
        return this.#kube.delete(VolumeSnapshotClass, snapshotClass.metadata);
      case 'takeName':
        return this.#takeName(operation);
      case 'loseSnapshot':
        return this.#loseSnapshot(operation.image);
      case 'wipeStatus':
        return this.#kube.patch(VMDiskImage, imageRef(operation.image), { status: null }, { subresource: 'status' });
      case 'garbleStatus':
        return this.#kube.patch(
          VMDiskImage,
          imageRef(operation.image),
          {
            status: { message: 'nothing', queuedAt: null, nextAttemptAt: null, startedAt: null, snapshottingAt: null },
          },
          { subresource: 'status' },
        );
      case 'lease':
        return this.#editLease(operation);
      case 'publish':
        return this.#publish(operation);
      case 'replaceSource':
        return this.#replaceSource(operation.image);
    }
    return undefined;
  }

  async #replaceSource(image: string) {
    const found = await this.#kube.get(VMDiskImage, imageRef(image));
    this.#means.replaceSource((found?.spec ?? specOf(image)).url);
  }

  async #createMachine(operation: Do<'createMachine'>) {
    const { joins } = operation;
    if (joins) {
      const network = { metadata: { name: 'net', namespace: joins }, spec: { config: '{}' } };
      await this.#kube.create(NetworkAttachmentDefinition, network).catch(unlessThere);
    }
    return this.#kube.create(VirtualMachine, machineOf(operation));
  }

  async #publish({ image, digest, signedBy }: Do<'publish'>) {
    const data = { name: image, url: specOf(image).url, digest };
    const event = { type: imagePublished, id: `${image}-${digest}`, subject: image, data };
    if (!signedBy) return this.#means.post(event);
    const key = Buffer.from(publicationKeys.publisher).toString('base64');
    await this.#kube.create(Secret, { metadata: publicationKeysRef, data: { publisher: key } }).catch(unlessThere);
    const atMs = this.#writer.scheduler.now();
    const attributes = signatureAttributes(publicationKeys[signedBy], { id: event.id, data, atMs });
    const { webhooktimestamp: timestamp, webhooksignature: signature } = attributes;
    this.#means.post(event, { timestamp, signature, content: signedContent(data) });
  }

  async #forceDelete(image: string) {
    if (!(await this.#kube.get(VMDiskImage, imageRef(image)))) return;
    await this.#kube.patch(VMDiskImage, imageRef(image), { metadata: { finalizers: null } });
    await this.#kube.delete(VMDiskImage, imageRef(image));
  }

  async #restoreImage({ image, hasStatus, hasChildren }: Do<'restoreImage'>) {
    const found = await this.#kube.get(VMDiskImage, imageRef(image));
    if (!found || found.metadata.deletionTimestamp) return;
    const [dataVolumes, snapshots] = await Promise.all([
      this.#childrenOf(DataVolume, found),
      this.#childrenOf(VolumeSnapshot, found),
    ]);
    await this.#forceDelete(image);
    for (const { metadata } of dataVolumes) await this.#kube.delete(DataVolume, metadata);
    for (const { metadata } of snapshots) await this.#kube.delete(VolumeSnapshot, metadata);
    if (hasChildren) this.#restoreChildren(dataVolumes, snapshots);
    const { annotations, labels, finalizers } = found.metadata;
    const metadata = { ...imageRef(image), annotations, labels, finalizers };
    await this.#kube.create(VMDiskImage, { metadata, spec: found.spec });
    // The API server takes no phase that its definition does not have.
    if (!hasStatus || !found.status || found.status.phase === unknownPhase) return;
    await this.#kube.patch(VMDiskImage, imageRef(image), { status: found.status }, { subresource: 'status' });
  }

  /** After the old objects are deleted: Velero skips existing ones. The data of a snapshot is restored under its content's name. */
  #restoreChildren(dataVolumes: readonly DataVolume[], snapshots: readonly VolumeSnapshot[]) {
    const plain = ({ namespace, name, labels, annotations }: KubernetesObject['metadata']) => ({
      ...{ namespace, name },
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
    });
    this.#writer.schedule(async () => {
      for (const { metadata, spec } of dataVolumes)
        await this.#kube.create(DataVolume, { metadata: plain(metadata), spec }).catch(unlessThere);
      for (const { metadata, spec, status } of snapshots) {
        const source = { volumeSnapshotContentName: status?.boundVolumeSnapshotContentName ?? `lost-${metadata.uid}` };
        await this.#kube
          .create(VolumeSnapshot, { metadata: plain(metadata), spec: { ...spec, source } })
          .catch(unlessThere);
      }
    }, restoredAfterMs);
  }

  async #adopt(image: string) {
    const metadata = { namespace: imageNamespace, name: `by-hand-${image}` };
    const spec = { volumeSnapshotClassName: 'ebs-snapshot', source: { persistentVolumeClaimName: 'golden' } };
    await this.#kube.create(VolumeSnapshot, { metadata, spec }).catch(unlessThere);
    return this.#annotate(image, { [adoptSnapshot]: metadata.name });
  }

  async #deleteChild({ image, of }: Do<'deleteChild'>) {
    const found = await this.#kube.get(VMDiskImage, imageRef(image));
    const resource: Resource = imageChildren[of];
    const [first] = found ? await this.#childrenOf(resource, found) : [];
    if (first) await this.#kube.delete(resource, first.metadata);
  }

  #childrenOf<T extends KubernetesObject>(resource: Resource<T>, { metadata }: VMDiskImageObject): Promise<T[]> {
    return this.#kube.list(resource, { namespace: imageNamespace, labelSelector: `${imageUidLabel}=${metadata.uid}` });
  }

  /** The other version changes the phase again if this version left it alone. */
  #showUnknownPhase(image: string) {
    const before = this.#writer.get(storeKeys.images, imageRef(image));
    const phase = (before?.status as { phase?: string } | undefined)?.phase;
    if (!before || !phase) return;
    const { uid } = before.metadata;
    this.#writer.patchStatus(storeKeys.images, { ...imageRef(image), uid }, { phase: unknownPhase });
    this.#writer.schedule(() => {
      const now = this.#writer.get(storeKeys.images, { ...imageRef(image), uid })?.status as
        | { phase?: string }
        | undefined;
      if (now?.phase === unknownPhase)
        this.#writer.patchStatus(storeKeys.images, { ...imageRef(image), uid }, { phase });
    }, unknownForMs);
  }

  #annotate(image: string, annotations: Record<string, string | null>) {
    return this.#kube.patch(VMDiskImage, imageRef(image), { metadata: { annotations } });
  }

  async #takeName({ image, of }: Do<'takeName'>): Promise<unknown> {
    const { metadata, status } = (await this.#kube.get(VMDiskImage, imageRef(image))) ?? {};
    if (!metadata) return;
    const [revision, attempt] = [status?.revision ?? 1, (status?.attempt ?? 0) + 1];
    const where = { namespace: imageNamespace, labels: { [strangers]: 'true' } };
    if (of === 'DataVolume') {
      const name = dataVolumeName(metadata, revision, attempt);
      const storage = { resources: { requests: { storage: '64Mi' } } };
      return this.#kube.create(DataVolume, { metadata: { ...where, name }, spec: { source: { blank: {} }, storage } });
    }
    return this.#kube.create(VolumeSnapshot, {
      metadata: { ...where, name: snapshotName(metadata, revision) },
      spec: { volumeSnapshotClassName: 'ebs-snapshot', source: { persistentVolumeClaimName: 'another' } },
    });
  }

  async #loseSnapshot(image: string) {
    const found = await this.#kube.get(VMDiskImage, imageRef(image));
    const name = found?.status?.snapshot?.name;
    if (name) await this.#kube.delete(VolumeSnapshot, { namespace: imageNamespace, name });
  }

  async #editLease({ how }: Do<'lease'>) {
    const ref = leaseRef;
    this.#leases.push((await this.#kube.get(Lease, ref))?.metadata.annotations?.[slotsAnnotation] ?? '[]');
    if (how === 'delete') return this.#kube.delete(Lease, ref);
    const text = how === 'old' ? (this.#leases.shift() ?? '[]') : edited[how];
    return this.#kube.patch(Lease, ref, { metadata: { annotations: { [slotsAnnotation]: text } } });
  }
}

/** A phase that this version does not know, and how long the other version shows it. */
const unknownPhase = 'Verifying';
const unknownForMs = 20_000;
/** A deletion needs two steps of other controllers. */
const restoredAfterMs = 5000;

const imageChildren = { VolumeSnapshot, DataVolume, PersistentVolumeClaim, Pod } as const;
const machineChildren = {
  DataVolume: { resource: DataVolume, nameOf: (machine: string) => `${machine}-root` },
  Secret: { resource: Secret, nameOf: (machine: string) => `${machine}-cloud-init` },
  KubeVirtMachine: { resource: KubeVirtMachine, nameOf: (machine: string) => machine },
} as const;

/** The label of objects that users created. */
const strangers = 'made-by-a-user';

function unlessThere(error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 409) throw error;
}

const stranger = (number: number) => ({
  uid: `stranger-${number}`,
  image: `${imageNamespace}/stranger-${number}`,
  revision: 1,
  attempt: 1,
  since: '2026-01-01T00:00:00Z',
});

const edited: Record<Exclude<Do<'lease'>['how'], 'delete' | 'old'>, string> = {
  empty: '[]',
  garble: '[{"uid":',
  stranger: JSON.stringify([stranger(1)]),
  overfull: JSON.stringify([1, 2, 3, 4, 5, 6, 7, 8, 9].map(stranger)),
};

const imageRef = (name: string) => ({ namespace: imageNamespace, name });
const machineRef = (name: string) => ({ namespace: machineNamespace, name });

const machineOf = ({ machine, image, hasTemplate, joins }: Do<'createMachine'>) => ({
  metadata: machineRef(machine),
  spec: {
    resources: { cpu: '1', memory: '1Gi' },
    vmDiskImageRef: imageRef(image),
    ...(hasTemplate ? { vmDiskImageTemplate: specOf(image) } : {}),
    ...(joins ? { interfaces: [{ network: `${joins}/net` }] } : {}),
  },
});

const aContainer = {
  volumes: [{ name: 'data', size: '1Gi' }],
  containerClusters: [
    {
      name: 'app',
      containers: [{ name: 'app', image: 'app:1', volumeMounts: [{ name: 'data', containerPath: '/data' }] }],
    },
  ],
};

const workspaceOf = ({ workspace, image, hasTemplate, runs }: Do<'createWorkspace'>) => ({
  metadata: { name: workspace },
  spec: {
    ...(runs ? aContainer : {}),
    vms: [
      {
        ...{ name: 'vm', backingVMDiskImage: image, resources: { cpu: '1', memory: '1Gi' } },
        ...(hasTemplate ? { vmDiskImageTemplate: specOf(image) } : {}),
      },
    ],
  },
});
