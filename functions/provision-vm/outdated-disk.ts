import type { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import type { ImageStanding } from './image-ready.ts';
import { type Observed, type Obstacle, waits } from './observed.ts';
import { isForFirstConsumer, isOfUsable, rootDiskOf } from './root-disk.ts';

/**
 * A disk that is yet to be cloned, from a snapshot that is no more the image's: that goes as soon as there is another, and
 * the disk would wait for it for ever. It is made anew: nothing can be on it. Undefined where the disk is to stay.
 */
export function outdatedDisk({ dataVolume, instance }: Observed, image: ImageStanding): Obstacle | undefined {
  if (!dataVolume || 'obstacle' in image || !isUnbegun(dataVolume)) return undefined;
  // The disk of a machine that runs was deleted under it, and this is the next one: there is time until the machine stops.
  if (instance?.status?.phase === 'Running') return undefined;
  const disk = rootDiskOf(dataVolume);
  if (isOfUsable(disk, image.image)) return undefined;
  const { namespace, name } = dataVolume.metadata;
  return waits(
    'DiskOutdated',
    `DataVolume ${namespace}/${name} was yet to be cloned from revision ${disk?.revision}, which has given way to revision ${image.image.status?.snapshot?.revision}; nothing is on it, and it is made anew.`,
  );
}

/** CDI has copied nothing yet (containerized-data-importer, pkg/controller/datavolume/clone-controller-base.go updateStatusPhase). */
const isUnbegun = (disk: DataVolume) => {
  const { phase = '', conditions = [] } = disk.status ?? {};
  const lacksSource = conditions.some(({ type, reason }) => type === 'Bound' && reason === 'CloneWithoutSource');
  return phase !== 'Succeeded' && (lacksSource || isForFirstConsumer(disk) || waiting.has(phase));
};

const waiting = new Set(['', 'Pending', 'CloneScheduled']);
