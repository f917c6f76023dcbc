import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { type Observed, type Obstacle, waits } from '../observed.ts';
import type { ImageReadiness } from './image-ready.ts';
import { isForFirstConsumer, isOfUsable, rootDiskOf } from './root-disk.ts';

/**
 * A disk that is yet to be cloned, from a snapshot that is no more the image's: that goes as soon as there is another, and
 * the disk would wait for it for ever. It is created again: nothing can be on it. Undefined if the disk stays.
 */
export function outdatedDisk({ machine, dataVolume, instance }: Observed, image: ImageReadiness): Obstacle | undefined {
  if (!dataVolume || 'obstacle' in image || !isUncloned(dataVolume)) return undefined;
  // What was seen of the disk is in the status; CDI takes its own words back, as when the cluster's CDIConfig is not readable.
  const { rootDisk } = machine.status ?? {};
  if (!rootDisk || rootDisk.cloned === dataVolume.metadata.uid) return undefined;
  // The disk of a machine that runs was deleted under it, and this is the next one: there is time until the machine stops.
  if (instance?.status?.phase === 'Running') return undefined;
  const disk = rootDiskOf(dataVolume);
  if (isOfUsable(disk, image.image)) return undefined;
  const { namespace, name } = dataVolume.metadata;
  return waits(
    'DiskOutdated',
    `DataVolume ${namespace}/${name} was to be cloned from revision ${disk.revision}, which was replaced by revision ${image.image.status?.snapshot?.revision} before the clone began; the empty disk is recreated.`,
  );
}

/**
 * CDI has copied nothing yet, or cannot go on (containerized-data-importer, pkg/controller/datavolume/clone-controller-base.go
 * updateStatusPhase; pkg/controller/clone/planner.go looks for the source at every step). KubeVirt starts no machine from it.
 */
const isUncloned = (disk: DataVolume) => {
  const { phase = '', conditions, claimName } = disk.status ?? {};
  if (phase === 'Succeeded' || phase === 'Failed') return false;
  const isFalse = (type: string, why: string) => {
    const found = conditionOf(conditions, type);
    return found?.status === 'False' && found.reason === why;
  };
  const isToCome = claimName === undefined && (phase === '' || phase === 'Pending');
  return (
    isToCome ||
    phase === 'CloneScheduled' ||
    isForFirstConsumer(disk) ||
    isFalse('Bound', 'CloneWithoutSource') ||
    isFalse('Running', 'Error')
  );
};
