import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import type { Step } from './follow.ts';

/**
 * Remembers the DataVolumes that were ever Succeeded. CDI sometimes takes that phase back (no phase while it cannot read
 * CDIConfig, Pending during a restore), but does not download again.
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

/** A DataVolume that may still download. */
export const isInFlight = ({ metadata, status }: DataVolume) =>
  metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

/** A Pod that is Terminating for longer keeps no slot (functions/start-sync/slots/occupancy.ts). */
export const stuckAfterMs = 10 * 60_000;

/** An importer Pod that may still download, whatever the state of its DataVolume. */
export const mayDownload = ({ status }: Pod) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
