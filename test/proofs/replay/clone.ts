import { mergePatch } from '../../../deploy/local/api-server/patch.ts';
import provisionVm from '../../../functions/provision-vm/index.ts';
import { subjectNamed } from '../../../shared/function.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { VirtualMachine, type VirtualMachineStatus } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { at } from '../../support/builders/images.ts';
import type { Followed } from './follow.ts';
import { decided } from './reconcile.ts';
import type { AsOf, Recording } from './recording.ts';

/** The sizes of a machine's image and snapshot, and the requested size. The recording has the root disk only. */
export interface Sizes {
  diskSize: string;
  restoreSize: string;
  wanted?: string;
}

interface RootDisk {
  spec: { source: { snapshot: { name: string; namespace: string } }; storage: { storageClassName: string } };
}

/** Drives the recorded root disk of a machine through provision-vm: before it exists, and after each of its writes. */
export async function clone(recording: Recording, sizes: Sizes): Promise<Followed> {
  const moments = recording.changes.flatMap(({ object, type }, index) =>
    object.kind === DataVolume.kind && type !== 'DELETED' ? [index + 1] : [],
  );
  const { machine: fresh, image } = ownersOf(recording, sizes);
  const reconcile = reconcilerOf(recording, image);
  const [first] = moments;
  const asked = (await reconcile(fresh, (first ?? 1) - 1)).disk;
  const others = new Map<string, number>();
  const said = new Set<string>();
  let machine = fresh;
  for (const moment of moments) {
    machine = (await reconcile(machine, moment)).machine;
    for (const one of [machine, (await reconcile(fresh, moment)).machine]) {
      said.add(one.status?.message ?? '');
      if (one.status?.phase === 'Failed') others.set('Failed', (others.get('Failed') ?? 0) + 1);
    }
  }
  const ready = machine.status?.conditions?.find(({ type }) => type === 'DiskReady')?.status === 'True';
  const end = `disk ${asked}, ${ready ? 'ready' : 'not ready'}`;
  return {
    end,
    message: machine.status?.message ?? '',
    said,
    untold: new Set<string>(),
    reconciles: 2 * moments.length,
    others,
  };
}

function reconcilerOf(recording: Recording, image: VMDiskImage) {
  return async (machine: VirtualMachine, moment: number) => {
    const given = [
      { resource: VMDiskImage, object: image },
      { resource: VirtualMachine, object: machine },
    ];
    const asOf: AsOf = ({ kind }) => (kind === DataVolume.kind ? moment : 0);
    const nowMs = recording.msAt(Math.max(1, moment));
    const batch = { subjects: [subjectNamed(VirtualMachine, machine.metadata)] };
    const actions = await decided(provisionVm, recording, { asOf, given, nowMs, batch });
    const status = actions
      .filter((action) => action.do === 'patchStatus')
      .reduce<unknown>((so, write) => mergePatch(so, write.status), machine.status);
    const made = actions.find((action) => action.do === 'create' && action.resource.kind === DataVolume.kind);
    const disk = made?.do === 'create' ? sizeOf(made.object) : undefined;
    return { machine: { ...machine, status: status as VirtualMachineStatus }, disk };
  };
}

/** The requested size. Without a request CDI makes the disk as large as the snapshot. */
const sizeOf = (disk: unknown) =>
  (disk as { spec: { storage: { resources?: { requests: { storage: string } } } } }).spec.storage.resources?.requests
    .storage ?? 'as snapshot';

/** The machine and the image that the recorded root disk was made for. */
function ownersOf({ changes }: Recording, { diskSize, restoreSize, wanted }: Sizes) {
  const disk = changes.find(({ object }) => object.kind === DataVolume.kind)?.object;
  const { metadata, spec } = disk as typeof disk & RootDisk;
  const [owner] = metadata.ownerReferences ?? [];
  const { namespace, name } = spec.source.snapshot;
  const image = VMDiskImage.parse({
    metadata: { name: 'image', namespace, uid: metadata.annotations?.[imageUidLabel] ?? '' },
    spec: {
      storageClass: spec.storage.storageClassName,
      snapshotClass: 'ebs-snapshot',
      secretRef: 's3-reader',
      url: 'http://minio.store.svc:9000/images/small.qcow2',
      diskSize,
    },
    status: {
      phase: 'Succeeded',
      revision: 1,
      snapshot: { name, revision: 1, restoreSize },
      conditions: [{ type: 'Ready', status: 'True', reason: 'SnapshotReady', message: '', lastTransitionTime: at(0) }],
    },
  });
  const machine = VirtualMachine.parse({
    metadata: { name: owner?.name ?? '', namespace: metadata.namespace, uid: owner?.uid ?? '', generation: 1 },
    spec: {
      resources: { cpu: '1', memory: '1Gi', ...(wanted ? { diskSize: wanted } : {}) },
      vmDiskImageRef: { name: image.metadata.name, namespace },
    },
  });
  return { machine, image };
}
