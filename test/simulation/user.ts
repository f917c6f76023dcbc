import { imagePublished } from '../../shared/events.ts';
import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { Lease } from '../../shared/resources/coordination/lease.ts';
import { ConfigMap } from '../../shared/resources/core/config-map.ts';
import { VirtualMachine } from '../../shared/resources/pelotech/virtual-machine.ts';
import { syncRequested, VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../shared/resources/resource.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import { VolumeSnapshotClass } from '../../shared/resources/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../shared/resources/storage/storage-class.ts';
import { dataVolumeName, snapshotName } from '../../shared/rules/names.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { parsePolicy, policyName } from '../../shared/rules/policy.ts';
import { keepAnnotation } from '../../shared/rules/pruning.ts';
import { leaseName, slotsAnnotation } from '../../shared/rules/slots.ts';
import { ApiError, isRefusal } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import type { DomainEvent } from '../../shared/runtime/tell.ts';
import { imageNamespace, machineNamespace, snapshotClass, soundPolicy, storageClass } from './cluster.ts';
import type { Operation } from './plan.ts';

type Do<K extends Operation['do']> = Extract<Operation, { do: K }>;

/** What an image is asked to be. */
const specOf = (name: string) => ({
  storageClass: 'gp3',
  snapshotClass: 'ebs-snapshot',
  url: `https://s3.eu-west-1.amazonaws.com/images/${name}.qcow2`,
  diskSize: '64Mi',
  secretRef: 's3-reader',
});

/** People and pipelines: carries out operations, each as one of them would, and shrugs at what the API server refuses. */
export class User {
  readonly #kube: Kube;
  readonly #post: (event: DomainEvent) => void;
  #done = 0;

  constructor(kube: Kube, post: (event: DomainEvent) => void) {
    this.#kube = kube;
    this.#post = post;
  }

  async carryOut(operation: Operation): Promise<void> {
    this.#done++;
    try {
      await this.#carryOut(operation);
    } catch (error) {
      // What they name may be there already, or gone; what the API server does not take is a fault of the plan.
      if (!(error instanceof ApiError) || isRefusal(error)) throw error;
    }
  }

  /** Puts right what keeps the policy from letting anything go on, as whoever wants that would; what it asks for stays. */
  async mend(): Promise<void> {
    const ref = { namespace: operatorNamespace, name: policyName };
    await this.#restore();
    const { faults } = parsePolicy(await this.#kube.get(ConfigMap, ref));
    const keys = [...faults.map(({ key }) => key), 'concurrency', 'allowedSources', 'imageNamespaces'];
    const data = Object.fromEntries(keys.map((key) => [key, soundPolicy[key] ?? null]));
    await this.#kube.patch(ConfigMap, ref, { data });
  }

  /** Brings back what is missing, and takes away what is in the way. */
  async #restore(): Promise<void> {
    const policy = { metadata: { namespace: operatorNamespace, name: policyName }, data: { ...soundPolicy } };
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
        return this.#kube.create(VMDiskImage, { metadata: imageRef(operation.image), spec: specOf(operation.image) });
      case 'deleteImage':
        return this.#kube.delete(VMDiskImage, imageRef(operation.image));
      case 'requestSync':
        return this.#annotate(operation.image, { [syncRequested]: String(this.#done) });
      case 'keep':
        return this.#annotate(operation.image, { [keepAnnotation]: 'true' });
      case 'changeUrl': {
        const { url } = specOf(`${operation.image}-${this.#done}`);
        return this.#kube.patch(VMDiskImage, imageRef(operation.image), { spec: { url } });
      }
      case 'createMachine':
        return this.#kube.create(VirtualMachine, machineOf(operation));
      case 'deleteMachine':
        return this.#kube.delete(VirtualMachine, machineRef(operation.machine));
      case 'changeMachine':
        return this.#kube.patch(VirtualMachine, machineRef(operation.machine), {
          spec: { resources: { memory: `${this.#done}Gi` } },
        });
      case 'policy': {
        const ref = { namespace: operatorNamespace, name: policyName };
        return this.#kube.patch(ConfigMap, ref, { data: { [operation.key]: operation.value } });
      }
      case 'deletePolicy':
        return this.#kube.delete(ConfigMap, { namespace: operatorNamespace, name: policyName });
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
        this.#post({
          type: imagePublished,
          id: `${operation.image}-${operation.digest}`,
          subject: operation.image,
          data: { name: operation.image, url: specOf(operation.image).url, digest: operation.digest },
        });
    }
    return undefined;
  }

  #annotate(image: string, annotations: Record<string, string>) {
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
    const ref = { namespace: operatorNamespace, name: leaseName };
    if (how === 'delete') return this.#kube.delete(Lease, ref);
    return this.#kube.patch(Lease, ref, { metadata: { annotations: { [slotsAnnotation]: edited[how] } } });
  }
}

/** What tells the objects that users made from ours. */
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

const edited: Record<Exclude<Do<'lease'>['how'], 'delete'>, string> = {
  empty: '[]',
  garble: '[{"uid":',
  stranger: JSON.stringify([stranger(1)]),
  overfull: JSON.stringify([1, 2, 3, 4, 5, 6, 7, 8, 9].map(stranger)),
};

const imageRef = (name: string) => ({ namespace: imageNamespace, name });
const machineRef = (name: string) => ({ namespace: machineNamespace, name });

const machineOf = ({ machine, image, hasTemplate }: Do<'createMachine'>) => ({
  metadata: machineRef(machine),
  spec: {
    resources: { cpu: '1', memory: '1Gi' },
    vmDiskImageRef: imageRef(image),
    ...(hasTemplate ? { vmDiskImageTemplate: specOf(image) } : {}),
  },
});
