import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import { ownedBy } from '../../../deploy/local/controller/owner.ts';
import type { DownloadFault } from './plan.ts';
import { type StoreWriter, storeKeys } from './store-writer.ts';

/** The next step of CDI; returns the milliseconds until the following one, or undefined after the last. */
export type Stage = (work: Work, dataVolume: ApiObject) => { next: Stage; inMs?: number; waits?: boolean } | undefined;

/** The finalizer of a claim that a Pod uses. */
export const claimProtection = 'kubernetes.io/pvc-protection';

/** A DataVolume in progress, its fault, and everything that CDI writes for it. */
export class Work {
  readonly writer: StoreWriter;
  readonly ref: { namespace: string; name: string; uid: string };
  readonly how: DownloadFault | undefined;
  /** How long half of the download takes. */
  readonly halfMs: number;
  /** The number of importers so far, and the restarts of the last. */
  importers = 0;
  restarts = 0;

  constructor(writer: StoreWriter, { metadata }: ApiObject, how: DownloadFault | undefined, halfMs: number) {
    this.writer = writer;
    this.halfMs = halfMs;
    this.ref = { namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid };
    this.how = how;
  }

  /** Writes the status of the DataVolume. */
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

  /** The claim of this DataVolume, unless it is being deleted. */
  get claim() {
    const { namespace, name, uid } = this.ref;
    const claim = this.writer.get(storeKeys.claims, { namespace, name });
    const isOurs = claim?.metadata.ownerReferences?.some((owner) => owner.uid === uid);
    return isOurs && claim?.metadata.deletionTimestamp === undefined ? claim : undefined;
  }

  makePod(owner: ApiObject) {
    this.importers++;
    const { namespace, name } = this.#pod;
    this.writer.create(storeKeys.pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        labels: owner.metadata.labels ?? {},
        ownerReferences: [ownedBy(owner)],
        ...(this.how === 'podLingers' ? { annotations: { lingers: 'true' } } : {}),
      },
      spec: {
        // Only a Pod on a node waits for its kubelet when it is deleted.
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

  /** In a separate step: the importer that exists by then. */
  deletePod() {
    this.writer.schedule(() => this.writer.delete(storeKeys.pods, this.#pod));
  }

  get #pod() {
    return { namespace: this.ref.namespace, name: `importer-${this.ref.name}-${this.importers}` };
  }
}
