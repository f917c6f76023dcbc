import { snapshotName } from '../../../shared/images/children.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { VirtualMachine, VirtualMachineStatus } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, revisionLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { nameOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { bytesOf, isLarger } from '../../../shared/kubernetes/quantity.ts';
import { repeated } from '../../../shared/reasons/reason.ts';
import { childMetadata, machineNameOf, rootDiskName } from '../children.ts';
import { seeAlso } from '../kubevirt/state.ts';
import { final, type Obstacle, step, trouble, waits } from '../observed.ts';

/** How large a disk is that asks for no size. */
const diskSizeAnnotation = 'pelotech.ot/disk-size';

/**
 * The root disk of a machine: a clone of the image's snapshot, in the class of the image. No annotation binds it at once: zone
 * and node follow the machine.
 */
export function dataVolumeFor(machine: VirtualMachine, image: VMDiskImage, snapshot: string) {
  const metadata = childMetadata(machine, rootDiskName(machine.metadata.name));
  const larger = largerThan(image, machine);
  return {
    apiVersion: DataVolume.apiVersion,
    kind: DataVolume.kind,
    metadata: {
      ...metadata,
      // As annotations: the labels are how start-sync finds downloads.
      annotations: {
        [imageUidLabel]: image.metadata.uid,
        [revisionLabel]: String(image.status?.snapshot?.revision ?? 1),
        ...(larger ? {} : { [diskSizeAnnotation]: image.spec.diskSize }),
      },
    },
    spec: {
      source: { snapshot: { namespace: image.metadata.namespace, name: snapshot } },
      storage: {
        storageClassName: image.spec.storageClass,
        ...(larger ? { resources: { requests: { storage: larger } } } : {}),
      },
    },
  };
}

/**
 * The size to request, if it is more than the size of the snapshot. Without a request CDI makes the disk as large as the snapshot.
 * With one, CDI adds the file system overhead, which the size of the snapshot already includes; and a disk larger than its
 * snapshot is resized or copied, for each machine.
 */
function largerThan({ spec, status }: VMDiskImage, machine: VirtualMachine): string | undefined {
  const wanted = machine.spec.resources?.diskSize ?? spec.diskSize;
  const restoreSize = status?.snapshot?.restoreSize;
  // A driver may report no size. CDI then needs a request.
  if (restoreSize === undefined || bytesOf(restoreSize) === 0)
    return isLarger(wanted, spec.diskSize) ? wanted : spec.diskSize;
  return isLarger(wanted, spec.diskSize) && isLarger(wanted, restoreSize) ? wanted : undefined;
}

/** The message if less was requested than the image needs. */
export function describeRaised({ spec }: VirtualMachine, { spec: { diskSize } }: VMDiskImage): string | undefined {
  const wanted = spec.resources?.diskSize;
  if (wanted === undefined || !isLarger(diskSize, wanted)) return undefined;
  return `Expected resources.diskSize to be at least ${diskSize}, the size of the image, found ${wanted}; the disk gets ${diskSize}.`;
}

/** The message if more is requested than the disk has: CDI changes no DataVolume. */
export function describeNotEnlarged(
  { spec }: VirtualMachine,
  { metadata, spec: made }: DataVolume,
): string | undefined {
  const wanted = spec.resources?.diskSize;
  const has = requestOf(made) ?? metadata.annotations?.[diskSizeAnnotation];
  if (wanted === undefined || has === undefined || !isLarger(wanted, has)) return undefined;
  return `Expected a root disk of ${wanted}, found ${has}: a disk that was cloned is not enlarged. Enlarge PersistentVolumeClaim ${metadata.namespace}/${metadata.name}, or delete that DataVolume to clone the disk again, without what is on it.`;
}

const requestOf = (spec: DataVolume['spec']) =>
  (spec as { storage?: { resources?: { requests?: { storage?: string } } } } | undefined)?.storage?.resources?.requests
    ?.storage;

/** A root disk that exists or is being created. */
interface Disk {
  metadata: { name: string; annotations?: Readonly<Record<string, string>> | undefined };
}

/** What the disk was cloned from, as its annotations say. */
export const rootDiskOf = ({ metadata }: Disk): NonNullable<VirtualMachineStatus['rootDisk']> => ({
  name: metadata.name,
  image: metadata.annotations?.[imageUidLabel] ?? '',
  revision: Number(metadata.annotations?.[revisionLabel]) || 0,
});

/** The disk is cloned from a snapshot of the image, of any revision, as its annotations say. */
export function isCloneOf({ metadata, status }: VMDiskImage, disk: DataVolume): boolean {
  const { namespace, name = '' } = (disk.spec as Source | undefined)?.source?.snapshot ?? {};
  const { image, revision } = rootDiskOf(disk);
  const snapshots = [status?.snapshot?.name, ...(status?.revisions ?? []).map(({ snapshot }) => snapshot)];
  return (
    image === metadata.uid &&
    namespace === metadata.namespace &&
    [...snapshots, snapshotName(metadata, revision)].includes(name)
  );
}

interface Source {
  source?: { snapshot?: { namespace?: string; name?: string } };
}

/** The disk is a clone of the very snapshot that the image has now. */
export const isOfUsable = (disk: VirtualMachineStatus['rootDisk'], { metadata, status }: VMDiskImage) =>
  disk?.image === metadata.uid && disk.revision === (status?.snapshot?.revision ?? 1);

/** The disk waits for the first start of its machine, as its StorageClass wants. */
export const isForFirstConsumer = ({ status }: DataVolume) =>
  status?.phase === 'PendingPopulation' || status?.phase === 'WaitForFirstConsumer';

/** What is in the way of the disk; undefined once it is cloned (containerized-data-importer, pkg/controller/datavolume/conditions.go). */
export function diskObstacle(disk: DataVolume): Obstacle | undefined {
  const { metadata, status } = disk;
  const called = nameOf(DataVolume, metadata);
  if (metadata.deletionTimestamp)
    return waits('DiskTerminating', `Waiting until ${called}, which is being deleted, is gone.`);
  const [bound, running] = ['Bound', 'Running'].map((type) => conditionOf(status?.conditions, type));
  if (status?.phase === 'Succeeded') {
    // CDI looks for the source again after the claim of a finished clone was deleted, and reports it in Bound only.
    return bound?.status === 'False' && bound.reason === 'CloneWithoutSource'
      ? trouble('ClaimGone', `The claim of ${called} was deleted; delete ${called} to clone the disk again.`)
      : undefined;
  }
  if (status?.phase === 'Failed') {
    const why = bound?.message || running?.message || 'CDI gave it up';
    return final('DiskFailed', `${called} Failed: ${why}. Delete it to clone the disk again.`);
  }
  if (bound?.status === 'False' && boundErrors.has(bound.reason)) {
    return trouble(repeated(bound.reason), `${called} is not cloned: ${bound.message}`);
  }
  if (running?.status === 'False' && runningErrors.has(running.reason)) {
    return trouble('CloneFailed', `${called} is not cloned: ${running.message}`);
  }
  return step('Cloning', describeCloning(disk), whereToLook(disk));
}

/** Where to look if the clone does not begin. A clone that has begun may take any time. */
function whereToLook(disk: DataVolume): string | undefined {
  const { metadata, status } = disk;
  if (isForFirstConsumer(disk)) {
    const machine = { namespace: metadata.namespace, name: machineNameOf(metadata.name) ?? '' };
    return `It waits for the machine's Pod. ${seeAlso({ metadata: machine })}`;
  }
  if (status?.claimName !== undefined) return undefined;
  return `CDI has not begun. See kubectl describe dv ${metadata.name} -n ${metadata.namespace}.`;
}

export const describeCloning = ({ metadata }: { metadata: ObjectReference }) =>
  `${nameOf(DataVolume, metadata)} is being cloned.`;

/** The words of CDI for what keeps a clone from beginning. */
const boundErrors = new Set([
  'CloneWithoutSource',
  'CloneValidationFailed',
  'ErrExceededQuota',
  'ErrClaimNotValid',
  'ClaimLost',
]);
const runningErrors = new Set(['Error', 'ImagePullFailed']);
