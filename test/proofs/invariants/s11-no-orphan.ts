import { machineUidLabel } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import {
  attemptLabel,
  imageUidLabel,
  revisionLabel,
  type VMDiskImage,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Invariant, State } from './follow.ts';
import { isReadable } from './plain-policy.ts';
import { isTrue } from './plain-rules.ts';

/**
 * S11, no orphan: at rest, every DataVolume, claim, snapshot and importer Pod has the image whose uid is in its label, and every object
 * made for a machine has that machine. A Ready image has only the objects that it needs: its snapshot, those of keepRevisions other
 * revisions, and a volume if the policy retains it. It also needs the volume of the newest revision if an earlier one is pinned and the
 * newest has no usable snapshot, which is then taken again from the volume. Judged only if the history came to rest (`stillFromMs`).
 */
export const s11NoOrphan: Invariant = {
  number: 'S11',
  rule: 'at rest every object has its image or machine, and is needed',
  judge: (state, { stillFromMs }) => ({
    end: () => {
      if (stillFromMs === undefined) return [];
      const pods = [...state.pods.values(), ...state.downloads.values()].flatMap((found) => [...found.values()]);
      const all: KubernetesObject[] = [...pods, ...state.claims.values(), ...state.snapshots.values()];
      const ofMachines = [...state.others.values()].filter(({ metadata: { labels } }) => {
        const uid = labels?.[machineUidLabel];
        return uid !== undefined && !state.machines.has(uid);
      });
      return [
        ...ofMachines.map(({ kind, metadata }) => `${kind} ${metadata.name} outlives the machine it was made for`),
        ...[...state.images.values()].flatMap((image) => garbageOf(image, state)),
        ...all
          .filter(({ metadata: { labels } }) => {
            const uid = labels?.[imageUidLabel];
            return uid !== undefined && !state.images.has(uid);
          })
          .filter(({ metadata }) => ![...state.images.values()].some((image) => isUsedBy(image, metadata)))
          .map(({ kind, metadata }) => `${kind} ${metadata.name} outlives the image it was made for`),
      ];
    },
  }),
};

/** A restored image is cloned from the snapshots that its status names, even if they were made for another uid. */
const isUsedBy = ({ metadata, status }: VMDiskImage, { namespace, name }: KubernetesObject['metadata']) =>
  namespace === metadata.namespace &&
  [status?.snapshot?.name, status?.adoption?.snapshot, ...(status?.revisions ?? []).map((one) => one.snapshot)].some(
    (named) => named === name,
  );

function garbageOf({ metadata, status }: VMDiskImage, { snapshots, downloads, policies: { now } }: State): string[] {
  if (metadata.deletionTimestamp || status?.phase !== 'Succeeded' || !isTrue(status.conditions, 'Ready')) return [];
  const own = [...snapshots.values()].filter(
    (one) => one.metadata.labels?.[imageUidLabel] === metadata.uid && one.metadata.name !== status.snapshot?.name,
  );
  const { keepRevisions, retainSourceVolume } = now.values;
  const most = isReadable(now, 'keepRevisions') ? keepRevisions : Number.POSITIVE_INFINITY;
  const isRetained = retainSourceVolume || !isReadable(now, 'retainSourceVolume');
  const isOfNewest = ({ metadata: { labels } }: KubernetesObject) =>
    labels?.[imageUidLabel] === metadata.uid && labels[revisionLabel] === String(status.revision);
  const isPinned = status.snapshot?.revision !== status.revision;
  const isLost = isPinned && ![...snapshots.values()].some((one) => isOfNewest(one) && one.status?.readyToUse === true);
  const isNeeded = (one: KubernetesObject) =>
    isLost && isOfNewest(one) && one.metadata.labels?.[attemptLabel] === String(status.attempt);
  const volumes = isRetained ? [] : [...(downloads.get(metadata.uid)?.values() ?? [])].filter((one) => !isNeeded(one));
  const names = (objects: readonly KubernetesObject[]) =>
    objects
      .map((one) => one.metadata.name)
      .sort()
      .join(', ');
  return [
    ...(own.length > most
      ? [`${metadata.name} keeps ${own.length} snapshots that it does not use, expected at most ${most}: ${names(own)}`]
      : []),
    ...(volumes.length > 0 ? [`${metadata.name} is Ready and still has volumes: ${names(volumes)}`] : []),
  ];
}
