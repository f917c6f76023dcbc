import { distinct } from '../../../shared/distinct.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import type { AnyObject } from '../install/kinds.ts';
import { editImage } from '../remedies.ts';
import type { Finding } from './finding.ts';
import type { Installation } from './installation.ts';

interface Pair {
  storageClass: string;
  snapshotClass: string;
  /** The object that names the pair. */
  by: string;
  remedy: string;
}

/** Each pair of classes that the policy or an image names: both exist, and have the same driver. */
export function classes({ images, policy, storageClasses, snapshotClasses }: Installation): Finding[] {
  return pairsOf({ images, policy }).flatMap(({ storageClass, snapshotClass, by, remedy }): Finding[] => {
    const storage = storageClasses.find(({ metadata }) => metadata.name === storageClass);
    const snapshot = snapshotClasses.find(({ metadata }) => metadata.name === snapshotClass);
    const name = `Classes of ${by}`;
    if (!storage) return [lost(name, 'StorageClass', storageClass, storageClasses, remedy)];
    if (!snapshot) return [lost(name, 'VolumeSnapshotClass', snapshotClass, snapshotClasses, remedy)];
    const { provisioner } = storage as { provisioner?: string };
    const { driver } = snapshot as { driver?: string };
    if (provisioner === driver) return [];
    const fit = snapshotClasses.filter((one) => (one as { driver?: string }).driver === provisioner);
    return [
      {
        name,
        expected: `VolumeSnapshotClass ${snapshotClass} of driver ${provisioner}, which provisions the volumes of ${storageClass}`,
        found: driver ?? 'none',
        remedy: `name ${fit.length > 0 ? namesOf(fit) : 'one with that driver'}: ${remedy}`,
      },
    ];
  });
}

const lost = (name: string, kind: string, wanted: string, there: readonly AnyObject[], remedy: string): Finding => ({
  name,
  expected: `${kind} ${wanted}`,
  found: `not found among: ${namesOf(there) || 'none'}`,
  remedy: `create it, or name another: ${remedy}`,
});

const namesOf = (objects: readonly AnyObject[]) => objects.map(({ metadata }) => metadata.name).join(', ');

function pairsOf({ images, policy }: Pick<Installation, 'images' | 'policy'>): Pair[] {
  const { imageStorageClass, imageSnapshotClass } = parsePolicy(policy).values;
  const pairs = images.map(({ spec, metadata }) => ({
    storageClass: spec.storageClass,
    snapshotClass: spec.snapshotClass,
    by: `VMDiskImage ${metadata.namespace}/${metadata.name}`,
    remedy: editImage(metadata),
  }));
  if (imageStorageClass && imageSnapshotClass) {
    const remedy = 'ot-functions policy set imageStorageClass NAME, or imageSnapshotClass';
    pairs.unshift({ storageClass: imageStorageClass, snapshotClass: imageSnapshotClass, by: 'the policy', remedy });
  }
  // One finding is enough for many images with the same classes.
  return distinct(pairs.toReversed(), (pair) => `${pair.storageClass} ${pair.snapshotClass}`).reverse();
}

/** CDI must know how to create volumes of each class; a clone that copies byte by byte takes minutes. */
export function profiles({ storageProfiles, storageClasses, images, policy }: Installation): Finding[] {
  if (!storageProfiles) return [];
  const used = new Set(pairsOf({ images, policy }).map(({ storageClass }) => storageClass));
  const known = storageClasses.filter(({ metadata }) => used.has(metadata.name));
  return known.flatMap(({ metadata: { name: className } }): Finding[] => {
    const name = `StorageProfile ${className}`;
    const profile = storageProfiles.find(({ metadata }) => metadata.name === className);
    if (!profile)
      return [
        {
          name,
          expected: 'it, created by CDI',
          found: 'none',
          remedy: 'check whether CDI runs: kubectl get cdi,pods -A',
        },
      ];
    const { claimPropertySets = [], cloneStrategy } = (profile.status ?? {}) as {
      claimPropertySets?: unknown[];
      cloneStrategy?: string;
    };
    const patch = (spec: string) => `kubectl patch storageprofile ${className} --type merge -p '{"spec":{${spec}}}'`;
    if (claimPropertySets.length === 0) {
      const remedy = patch('"claimPropertySets":[{"accessModes":["ReadWriteOnce"],"volumeMode":"Block"}]');
      return [{ name, expected: 'claimPropertySets, which CDI needs for a claim', found: 'none', remedy }];
    }
    if (cloneStrategy !== 'copy') return [];
    return [
      {
        name,
        expected: 'cloneStrategy snapshot or csi-clone',
        found: 'copy: each machine takes minutes',
        remedy: patch('"cloneStrategy":"snapshot"'),
      },
    ];
  });
}
