import type { Stage, Work } from './cdi-work.ts';
import type { DownloadFault } from './plan.ts';
import { storeKeys } from './store-writer.ts';

/** An import from its claim on, to its end or to whatever goes wrong with it. */
export const claimed: Stage = (work, dataVolume) => {
  work.makeClaim(dataVolume);
  return { next: scheduled };
};

const scheduled: Stage = (work) => {
  const reason = work.how === 'neverStarts' ? 'ErrExceededQuota' : 'Pending';
  work.say({
    phase: 'ImportScheduled',
    claimName: work.ref.name,
    conditions: [
      { type: 'Bound', status: 'False', reason, message: 'exceeded quota: storage' },
      { type: 'Running', status: 'False', reason: 'Pending' },
    ],
  });
  return work.how === 'neverStarts' ? undefined : { next: withPod };
};

/** As long as the claim exists, whatever becomes of its DataVolume. */
export const withPod: Stage = (work, dataVolume) => {
  work.makePod(work.claim ?? dataVolume);
  return { next: running };
};

const running: Stage = (work) => {
  work.say({
    phase: 'ImportInProgress',
    progress: 'N/A',
    conditions: [
      { type: 'Bound', status: 'False', reason: 'Pending' },
      { type: 'Running', status: 'True', reason: 'Pod is running' },
    ],
  });
  return work.how === 'stalls' ? undefined : { next: halfway, inMs: work.halfMs };
};

const halfway: Stage = (work) => {
  work.say({ progress: '50.00%' });
  return { next: (work.how && troubles[work.how]) ?? finished, inMs: work.halfMs };
};

const finished: Stage = (work) => {
  work.podSays({ phase: 'Succeeded' });
  return { next: bound };
};

const bound: Stage = (work) => {
  work.bindClaim();
  return { next: succeeded };
};

const succeeded: Stage = (work) => {
  if (work.how !== 'lateBound' && work.how !== 'neverBound') return done(work);
  work.say({
    phase: 'Succeeded',
    progress: '100.0%',
    conditions: [
      { type: 'Bound', status: 'False', reason: 'Pending', message: 'PVC Pending' },
      { type: 'Running', status: 'False', reason: 'Completed', message: 'Import Complete' },
    ],
  });
  return work.how === 'lateBound' ? { next: done, inMs: 20_000 } : { next: cleared };
};

const done = (work: Work) => {
  work.describeDone('Import Complete', { progress: '100.0%' });
  return { next: cleared };
};

const cleared: Stage = (work) => {
  work.deletePod();
  if (work.how === 'claimLost') return { next: claimLost, inMs: 1 };
  return work.how === 'takenBack' ? { next: takenBack, inMs: 1 } : undefined;
};

/** While CDI cannot read its own configuration, no DataVolume has a phase, not even a finished one. */
const takenBack: Stage = (work) => {
  work.say({ phase: '' });
  return { next: saidAgain, inMs: 8000 };
};

const saidAgain: Stage = (work) => {
  work.say({ phase: 'Succeeded' });
  return undefined;
};

/** The volume is lost after the download: CDI sets the phase Failed. */
const claimLost: Stage = (work) => {
  work.say({
    phase: 'Failed',
    conditions: [{ type: 'Bound', status: 'False', reason: 'ClaimLost', message: 'PVC lost' }],
  });
  return undefined;
};

/** CDI restarts the importer forever, from the first byte, and replaces an importer that a user deleted. */
const again: Stage = (work) => {
  if (!work.hasPod()) return { next: withPod };
  work.restarts++;
  work.podSays({
    containerStatuses: [
      {
        restartCount: work.restarts,
        lastState: { terminated: { exitCode: 1, reason: 'Error', message: 'Unable to process data: unexpected EOF' } },
      },
    ],
  });
  return { next: restarted };
};

const restarted: Stage = (work) => {
  if (!work.hasPod()) return { next: withPod };
  if (work.how === 'restartOnly') work.restarts++;
  work.say({ restartCount: work.restarts });
  return { next: halfway, inMs: 5000 };
};

const broken =
  (message: string): Stage =>
  (work) => {
    work.say({
      conditions: [
        { type: 'Bound', status: 'False', reason: 'Pending' },
        { type: 'Running', status: 'False', reason: 'Error', message },
      ],
    });
    return { next: again };
  };

const checksumFailed: Stage = (work) => {
  work.say({
    phase: 'Failed',
    conditions: [{ type: 'Running', status: 'False', reason: 'ChecksumError', message: 'checksum mismatch' }],
  });
  return undefined;
};

const evicted: Stage = (work) => {
  work.podSays({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory' });
  return undefined;
};

const deleted: Stage = ({ writer, ref }) => {
  writer.schedule(() => writer.delete(storeKeys.dataVolumes, ref));
  return undefined;
};

/** All importers of a DataVolume have one name, so the next is created when the one before it is gone. */
const replaced: Stage = (work) => ({ next: work.hasPod() ? replaced : withPod, inMs: 500 });

const podDeleted: Stage = (work) => {
  work.deletePod();
  return { next: replaced, inMs: 2000 };
};

/** The first importer finds that it needs scratch space; the second has it. */
const withoutScratch: Stage = (work, dataVolume) => {
  if (work.importers > 1) return finished(work, dataVolume);
  work.podSays({
    containerStatuses: [
      { restartCount: 0, state: { terminated: { exitCode: 42, message: 'scratch space required and none found' } } },
    ],
  });
  work.deletePod();
  return { next: replaced, inMs: 2000 };
};

/** Failures in the middle of a download. */
const troubles: Readonly<Partial<Record<DownloadFault, Stage>>> = {
  cut: broken('Unable to process data: unexpected EOF'),
  notFound: broken('Unable to connect to s3 data source: could not get s3 object: NoSuchKey: status code: 404'),
  restartOnly: restarted,
  failed: checksumFailed,
  evicted,
  deleted,
  podDeleted,
  scratch: withoutScratch,
};
