import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import { ownedBy } from '../../../deploy/local/controller/owner.ts';
import type { DownloadFault } from './plan.ts';
import { type StoreWriter, storeKeys } from './store-writer.ts';

/** What CDI does next; the milliseconds until the step after it, or undefined where that was the last. */
export type Stage = (work: Work, dataVolume: ApiObject) => { next: Stage; inMs?: number; waits?: boolean } | undefined;

/** Holds a claim for as long as a Pod uses it. */
export const claimProtection = 'kubernetes.io/pvc-protection';

/** A DataVolume CDI is at work on, how that goes, and each thing that CDI writes for it. */
export class Work {
  readonly writer: StoreWriter;
  readonly ref: { namespace: string; name: string; uid: string };
  readonly how: DownloadFault | undefined;
  /** How many importers it has had, and how often the last of them began again. */
  importers = 0;
  restarts = 0;

  constructor(writer: StoreWriter, { metadata }: ApiObject, how: DownloadFault | undefined) {
    this.writer = writer;
    this.ref = { namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid };
    this.how = how;
  }

  /** In the status of the DataVolume. */
  say(status: object) {
    this.writer.patchStatus(storeKeys.dataVolumes, this.ref, status);
  }

  describeDone(message: string, more: object = {}) {
    this.say({
      phase: 'Succeeded',
      ...more,
      conditions: [
        { type: 'Bound', status: 'True', reason: 'Bound' },
        { type: 'Running', status: 'False', reason: 'Completed', message },
      ],
    });
  }

  makeClaim(dataVolume: ApiObject) {
    const { namespace, name } = this.ref;
    this.writer.create(storeKeys.claims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name,
        namespace,
        labels: dataVolume.metadata.labels ?? {},
        finalizers: [claimProtection],
        ownerReferences: [ownedBy(dataVolume)],
      },
      status: { phase: 'Pending' },
    });
  }

  bindClaim() {
    const { namespace, name } = this.ref;
    this.writer.patchStatus(storeKeys.claims, { namespace, name }, { phase: 'Bound' });
  }

  makePod(dataVolume: ApiObject) {
    this.importers++;
    const { namespace, name } = this.#pod;
    this.writer.create(storeKeys.pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        labels: dataVolume.metadata.labels ?? {},
        ownerReferences: [ownedBy(dataVolume)],
        ...(this.how === 'podLingers' ? { annotations: { lingers: 'true' } } : {}),
      },
      spec: {
        // Only what is on a node has a kubelet to wait for when it is deleted.
        nodeName: 'node-1',
        volumes:
          this.how === 'scratch' && this.importers > 1 ? [{ persistentVolumeClaim: { claimName: 'x-scratch' } }] : [],
      },
      status: { phase: 'Running', containerStatuses: [{ restartCount: 0 }] },
    });
  }

  /** Not if a user deleted it. */
  hasPod() {
    return this.writer.get(storeKeys.pods, this.#pod) !== undefined;
  }

  podSays(status: object) {
    this.writer.patchStatus(storeKeys.pods, this.#pod, status);
  }

  /** In a step of its own: whatever importer there is by then. */
  deletePod() {
    this.writer.schedule(() => this.writer.delete(storeKeys.pods, this.#pod));
  }

  get #pod() {
    return { namespace: this.ref.namespace, name: `importer-${this.ref.name}-${this.importers}` };
  }
}
