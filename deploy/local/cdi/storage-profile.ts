import type { ClaimSpec, DataVolume, StorageClass } from '../controller/kinds.ts';
import { bytesOf } from '../controller/quantity.ts';

/** What CDI knows about the volumes of a driver: what a `storage` stanza that leaves it open gets. */
interface StorageProfile {
  accessModes: string[];
  volumeMode: 'Block' | 'Filesystem';
  /** The smallest volume the driver makes; a smaller request is raised to it. */
  minimumBytes?: number;
}
export type StorageProfiles = Record<string, StorageProfile>;

/**
 * CDI's own entry for EBS, without its minimum of 1Gi: images of a local cluster are megabytes, and "too small" has to
 * be possible with them.
 */
export const defaultStorageProfiles: StorageProfiles = {
  'ebs.csi.aws.com': { accessModes: ['ReadWriteOnce'], volumeMode: 'Block' },
};

/** The overhead of a Filesystem volume, as a share of the image (CDI pkg/util/util.go GetRequiredSpace). */
const filesystemOverhead = 0.06;

/** The bytes that an image may have on a Filesystem volume of `bytes` (GetUsableSpace there). */
export const withoutOverhead = (bytes: number) =>
  Math.floor(Math.ceil(bytes / (1 + filesystemOverhead)) / mebibyte) * mebibyte;

const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class';

/** The class of a claim: the one it names, else the default one; undefined without either. */
export function classFor(name: string | undefined, classes: Iterable<StorageClass>): StorageClass | undefined {
  const all = [...classes];
  if (name !== undefined) return all.find((one) => one.metadata.name === name);
  return all.find((one) => one.metadata.annotations?.[defaultClassAnnotation] === 'true');
}

export const waitsForConsumer = (storageClass: StorageClass | undefined) =>
  storageClass?.volumeBindingMode === 'WaitForFirstConsumer';

/** The spec of a claim, or why CDI creates none, and the message of the Event if that differs. */
export type Rendered = { spec: ClaimSpec } | { refused: string; event?: string };

/** The spec of a DataVolume's claim: `pvc` as it stands, `storage` completed from class and profile. */
export function renderClaimSpec(
  { spec }: DataVolume,
  classes: Iterable<StorageClass>,
  profiles: StorageProfiles,
): Rendered {
  if (spec.pvc) return { spec: spec.pvc };
  const storage = spec.storage ?? {};
  const storageClass = classFor(storage.storageClassName, classes);
  if (!storageClass) {
    if (storage.accessModes?.length) return { spec: storage };
    return { refused: 'PVC spec is missing accessMode and no storageClass to choose profile' };
  }
  const profile = profiles[storageClass.provisioner];
  const accessModes = storage.accessModes?.length ? storage.accessModes : profile?.accessModes;
  if (!accessModes?.length) {
    const name = storageClass.metadata.name;
    return {
      refused: `no accessMode specified in StorageProfile ${name}`,
      event: `Spec is missing accessMode and volumeMode, cannot get access mode from StorageProfile ${name}`,
    };
  }
  const volumeMode = storage.volumeMode ?? profile?.volumeMode ?? 'Filesystem';
  const requested = storage.resources?.requests?.storage ?? '0';
  const size = effectiveSize(requested, volumeMode, profile?.minimumBytes ?? 0);
  const resources = { ...storage.resources, requests: { ...storage.resources?.requests, storage: size } };
  return { spec: { ...storage, accessModes, volumeMode, storageClassName: storageClass.metadata.name, resources } };
}

/** The bytes with the overhead of a file system. */
export const withFilesystem = (bytes: number) => Math.ceil(bytes * (1 + filesystemOverhead));

const mebibyte = 1024 ** 2;

function effectiveSize(requested: string, volumeMode: string, minimumBytes: number): string {
  const bytes = bytesOf(requested);
  const aligned = Math.ceil(bytes / mebibyte) * mebibyte;
  const needed = volumeMode === 'Filesystem' ? withFilesystem(aligned) : bytes;
  return String(Math.max(needed, minimumBytes));
}
