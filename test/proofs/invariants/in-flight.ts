import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import type { Step } from './follow.ts';

/**
 * Remembers which DataVolumes were ever Succeeded: CDI takes that word back now and then (no phase while CDIConfig cannot
 * be read, Pending in a restore), and downloads nothing anew for it.
 */
export function rememberDone() {
  const done = new Set<string>();
  return {
    note: ({ object }: Step<DataVolume>) => {
      if (object.status?.phase === 'Succeeded') done.add(object.metadata.uid);
    },
    isDone: ({ metadata }: DataVolume) => done.has(metadata.uid),
  };
}

/** A download that somebody may still be paying for. */
export const isInFlight = ({ metadata, status }: DataVolume) =>
  metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

/** Past this a Pod that is Terminating keeps no slot (functions/start-sync/occupancy.ts). */
export const stuckAfterMs = 10 * 60_000;

/** An importer that may still be downloading, whatever became of its DataVolume. */
export const isAtWork = ({ status }: Pod) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
