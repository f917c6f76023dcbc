import type { ApiObject } from '../../deploy/local/api-server/objects.ts';
import type { StoreEvent } from '../../deploy/local/api-server/watch-log.ts';
import type { Faults } from './faults.ts';
import { type Hands, ownedBy, shelves, withoutFinalizer } from './hands.ts';
import type { DownloadFault } from './plan.ts';

/** A DataVolume CDI is at work on, and how that goes. */
interface Work {
  ref: { namespace: string; name: string; uid: string };
  how: DownloadFault | undefined;
  /** How many importers it has had, and how often the last of them began again. */
  importers: number;
  restarts: number;
}

/** What CDI does next; the milliseconds until the step after it, or undefined where that was the last. */
type Stage = (work: Work, dataVolume: ApiObject) => { next: Stage; inMs?: number; waits?: boolean } | undefined;

const protection = 'kubernetes.io/pvc-protection';

/**
 * Plays CDI, its importers and the kubelet under them, as far as a client can tell (cdi-kubevirt reference, §1, §7.3):
 * claim → importer Pod → progress → Succeeded, and every way in which that goes wrong. Each write is a step of its own.
 */
export function playCdi(hands: Hands, faults: Faults) {
  const go = (work: Work, stage: Stage, inMs: number, waits = false) => {
    const step = () => {
      const dataVolume = hands.get(shelves.dataVolumes, work.ref);
      if (!dataVolume || dataVolume.metadata.deletionTimestamp) return;
      const then = stage(work, dataVolume);
      if (then) go(work, then.next, then.inMs ?? 0, then.waits);
    };
    if (waits) hands.again(step, inMs);
    else hands.soon(step, inMs);
  };
  const stages = stagesOf(hands, faults);
  return ({ type, resource, object }: StoreEvent) => {
    const { namespace = '', name, uid, deletionTimestamp } = object.metadata;
    if (type === 'ADDED' && resource === shelves.dataVolumes) {
      const isClone = (object.spec as { source?: { snapshot?: object } }).source?.snapshot !== undefined;
      const how = isClone ? undefined : faults.at(faults.count('download'), 'download')?.how;
      go(
        { ref: { namespace, name, uid }, how, importers: 0, restarts: 0 },
        isClone ? stages.cloneClaim : stages.claim,
        0,
      );
    }
    if (type === 'MODIFIED' && deletionTimestamp) leave(hands, faults, resource, object);
  };
}

/** What is marked as going goes: a claim when no Pod uses it, a Pod when its kubelet has ended it. */
function leave(hands: Hands, faults: Faults, resource: string, { metadata }: ApiObject) {
  const ref = { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid };
  if (resource === shelves.claims && metadata.finalizers?.includes(protection))
    hands.soon(() => hands.change(shelves.claims, ref, (claim) => withoutFinalizer(claim, protection)));
  if (resource === shelves.pods) {
    const lingers = faults.areOn && metadata.annotations?.lingers !== undefined;
    const end = () => {
      if (hands.get(shelves.pods, ref)) hands.state.store.remove(shelves.pods, ref.namespace, ref.name);
    };
    hands.soon(end, lingers ? 45_000 : 1000);
  }
}

function stagesOf(hands: Hands, _faults: Faults) {
  const say = (work: Work, status: object) => hands.status(shelves.dataVolumes, work.ref, status);
  const claimOf = ({ metadata }: ApiObject, isBound: boolean) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace ?? '',
      labels: metadata.labels ?? {},
      finalizers: [protection],
    },
    status: { phase: isBound ? 'Bound' : 'Pending' },
  });
  const makeClaim = (dataVolume: ApiObject) => {
    const claim = claimOf(dataVolume, false);
    hands.make(shelves.claims, { ...claim, metadata: { ...claim.metadata, ownerReferences: ownedBy(dataVolume) } });
  };
  const importerName = ({ ref, importers }: Work) => `importer-${ref.name}-${importers}`;
  const makePod = (work: Work, dataVolume: ApiObject) => {
    work.importers++;
    hands.make(shelves.pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: importerName(work),
        namespace: work.ref.namespace,
        labels: dataVolume.metadata.labels ?? {},
        ownerReferences: ownedBy(dataVolume),
        ...(work.how === 'podLingers' ? { annotations: { lingers: 'true' } } : {}),
      },
      spec: {
        // Only what is on a node has a kubelet to wait for when it is deleted.
        nodeName: 'node-1',
        volumes:
          work.how === 'scratch' && work.importers > 1 ? [{ persistentVolumeClaim: { claimName: 'x-scratch' } }] : [],
      },
      status: { phase: 'Running', containerStatuses: [{ restartCount: 0 }] },
    } as never);
  };
  const podSays = (work: Work, status: object) =>
    hands.status(shelves.pods, { namespace: work.ref.namespace, name: importerName(work) }, status);
  const deletePod = (work: Work) =>
    hands.delete(shelves.pods, { namespace: work.ref.namespace, name: importerName(work) });

  const claim: Stage = (_work, dataVolume) => {
    makeClaim(dataVolume);
    return { next: scheduled };
  };
  const scheduled: Stage = (work) => {
    const reason = work.how === 'neverStarts' ? 'ErrExceededQuota' : 'Pending';
    say(work, {
      phase: 'ImportScheduled',
      claimName: work.ref.name,
      conditions: [
        { type: 'Bound', status: 'False', reason, message: 'exceeded quota: storage' },
        { type: 'Running', status: 'False', reason: 'Pending' },
      ],
    });
    return work.how === 'neverStarts' ? undefined : { next: pod };
  };
  const pod: Stage = (work, dataVolume) => {
    makePod(work, dataVolume);
    return { next: running };
  };
  const running: Stage = (work) => {
    say(work, {
      phase: 'ImportInProgress',
      progress: 'N/A',
      conditions: [
        { type: 'Bound', status: 'False', reason: 'Pending' },
        { type: 'Running', status: 'True', reason: 'Pod is running' },
      ],
    });
    return work.how === 'stalls' ? undefined : { next: halfway, inMs: 3000 };
  };
  const halfway: Stage = (work) => {
    say(work, { progress: '50.00%' });
    return { next: troubles[work.how ?? 'none'] ?? finished, inMs: 3000 };
  };
  const finished: Stage = (work) => {
    podSays(work, { phase: 'Succeeded' });
    return { next: bound };
  };
  const bound: Stage = (work) => {
    hands.status(shelves.claims, { namespace: work.ref.namespace, name: work.ref.name }, { phase: 'Bound' });
    return { next: succeeded };
  };
  const succeeded: Stage = (work) => {
    say(work, {
      phase: 'Succeeded',
      progress: '100.0%',
      conditions: [
        { type: 'Bound', status: 'True', reason: 'Bound' },
        { type: 'Running', status: 'False', reason: 'Completed', message: 'Import Complete' },
      ],
    });
    return { next: cleared };
  };
  const cleared: Stage = (work) => {
    hands.soon(() => deletePod(work));
    return work.how === 'claimLost' ? { next: claimLost, inMs: 1 } : undefined;
  };
  /** The volume is lost after the download: CDI says so by the phase Failed. */
  const claimLost: Stage = (work) => {
    say(work, {
      phase: 'Failed',
      conditions: [{ type: 'Bound', status: 'False', reason: 'ClaimLost', message: 'PVC lost' }],
    });
    return undefined;
  };
  /** CDI lets the importer begin again for ever, from the first byte. */
  const again: Stage = (work) => {
    work.restarts++;
    podSays(work, {
      containerStatuses: [
        {
          restartCount: work.restarts,
          lastState: {
            terminated: { exitCode: 1, reason: 'Error', message: 'Unable to process data: unexpected EOF' },
          },
        },
      ],
    });
    return { next: restarted };
  };
  const restarted: Stage = (work) => {
    if (work.how === 'restartOnly') work.restarts++;
    say(work, { restartCount: work.restarts });
    return { next: halfway, inMs: 5000 };
  };
  const broken =
    (message: string): Stage =>
    (work) => {
      say(work, {
        conditions: [
          { type: 'Bound', status: 'False', reason: 'Pending' },
          { type: 'Running', status: 'False', reason: 'Error', message },
        ],
      });
      return { next: again };
    };
  const troubles: Readonly<Partial<Record<DownloadFault | 'none', Stage>>> = {
    cut: broken('Unable to process data: unexpected EOF'),
    notFound: broken('Unable to connect to s3 data source: could not get s3 object: NoSuchKey: status code: 404'),
    restartOnly: restarted,
    failed: (work) => {
      say(work, {
        phase: 'Failed',
        conditions: [{ type: 'Running', status: 'False', reason: 'ChecksumError', message: 'checksum mismatch' }],
      });
      return undefined;
    },
    evicted: (work) => {
      podSays(work, { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory' });
      return undefined;
    },
    deleted: (work) => {
      hands.soon(() => hands.delete(shelves.dataVolumes, work.ref));
      return undefined;
    },
    podDeleted: (work) => {
      hands.soon(() => deletePod(work));
      return { next: pod, inMs: 2000 };
    },
    scratch: (work) => {
      if (work.importers > 1) return finished(work, undefined as never);
      podSays(work, {
        containerStatuses: [
          {
            restartCount: 0,
            state: { terminated: { exitCode: 42, message: 'scratch space required and none found' } },
          },
        ],
      });
      hands.soon(() => deletePod(work));
      return { next: pod, inMs: 2000 };
    },
  };

  const cloneClaim: Stage = (_work, dataVolume) => {
    makeClaim(dataVolume);
    return { next: cloneScheduled };
  };
  const cloneScheduled: Stage = (work, dataVolume) => {
    const { snapshot } = (dataVolume.spec as { source: { snapshot: { namespace: string; name: string } } }).source;
    const source = hands.get(shelves.snapshots, snapshot);
    const isReady = (source?.status as { readyToUse?: boolean } | undefined)?.readyToUse === true;
    say(work, {
      phase: isReady ? 'CloneFromSnapshotSourceInProgress' : 'CloneScheduled',
      claimName: work.ref.name,
      conditions: [
        isReady
          ? { type: 'Bound', status: 'False', reason: 'Pending' }
          : { type: 'Bound', status: 'False', reason: 'CloneWithoutSource', message: 'the source is not there' },
        { type: 'Running', status: 'False', reason: '' },
      ],
    });
    return isReady ? { next: cloneBound, inMs: 2000 } : { next: cloneScheduled, inMs: 5000, waits: true };
  };
  const cloneBound: Stage = (work) => {
    hands.status(shelves.claims, { namespace: work.ref.namespace, name: work.ref.name }, { phase: 'Bound' });
    return { next: cloned };
  };
  const cloned: Stage = (work) => {
    say(work, {
      phase: 'Succeeded',
      conditions: [
        { type: 'Bound', status: 'True', reason: 'Bound' },
        { type: 'Running', status: 'False', reason: 'Completed', message: 'Clone Complete' },
      ],
    });
    return undefined;
  };
  return { claim, cloneClaim };
}
