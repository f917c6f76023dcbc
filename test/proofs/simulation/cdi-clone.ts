import type { Stage } from './cdi-work.ts';
import { storeKeys } from './store-writer.ts';

/** A clone from a snapshot, from its claim on; it waits until the snapshot is ready. */
export const cloneClaimed: Stage = (work, dataVolume) => {
  work.makeClaim(dataVolume);
  return { next: scheduled };
};

const scheduled: Stage = (work, dataVolume) => {
  const { snapshot } = (dataVolume.spec as { source: { snapshot: { namespace: string; name: string } } }).source;
  const source = work.writer.get(storeKeys.snapshots, snapshot);
  const isReady = (source?.status as { readyToUse?: boolean } | undefined)?.readyToUse === true;
  work.say({
    phase: isReady ? 'CloneFromSnapshotSourceInProgress' : 'CloneScheduled',
    claimName: work.ref.name,
    conditions: [
      isReady
        ? { type: 'Bound', status: 'False', reason: 'Pending' }
        : { type: 'Bound', status: 'False', reason: 'CloneWithoutSource', message: 'the source is not there' },
      { type: 'Running', status: 'False', reason: '' },
    ],
  });
  return isReady ? { next: bound, inMs: 2000 } : { next: scheduled, inMs: 5000, waits: true };
};

const bound: Stage = (work) => {
  work.bindClaim();
  return { next: succeeded };
};

const succeeded: Stage = (work) => {
  work.describeDone('Clone Complete');
  return undefined;
};
