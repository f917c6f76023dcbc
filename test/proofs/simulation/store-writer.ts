import { isDeepStrictEqual } from 'node:util';
import { type ClusterState, timestamp } from '../../../deploy/local/api-server/cluster-state.ts';
import { deleteObject } from '../../../deploy/local/api-server/delete-object.ts';
import type { ApiObject, Metadata } from '../../../deploy/local/api-server/objects.ts';
import { withoutFinalizer } from '../../../deploy/local/api-server/system-change.ts';
import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import type { Recorder } from './recorder.ts';
import type { Scheduler } from './scheduler.ts';

/** The store keys of the kinds that simulated controllers write and that are judged. */
export const storeKeys = {
  images: 'pelotech.ot/vmdiskimages',
  machines: 'pelotech.ot/virtualmachines',
  workspaces: 'pelotech.ot/workspaces',
  namespaces: '/namespaces',
  dataVolumes: 'cdi.kubevirt.io/datavolumes',
  claims: '/persistentvolumeclaims',
  pods: '/pods',
  snapshots: 'snapshot.storage.k8s.io/volumesnapshots',
  kubeVirtMachines: 'kubevirt.io/virtualmachines',
  instances: 'kubevirt.io/virtualmachineinstances',
  secrets: '/secrets',
  leases: 'coordination.k8s.io/leases',
  policies: '/configmaps',
} as const;
export type StoreKey = (typeof storeKeys)[keyof typeof storeKeys];

/** An object without the fields that the API server sets. */
interface NewObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectReference & Pick<Metadata, 'labels' | 'annotations' | 'finalizers' | 'ownerReferences'>;
  [field: string]: unknown;
}

/** Writes as a simulated controller or user: immediately and unconditionally, one object per step. */
export class StoreWriter {
  readonly state: ClusterState;
  readonly scheduler: Scheduler;
  readonly #recorder: Recorder;
  readonly #by: string;

  constructor(by: string, around: { state: ClusterState; scheduler: Scheduler; recorder: Recorder }) {
    this.#by = by;
    this.state = around.state;
    this.scheduler = around.scheduler;
    this.#recorder = around.recorder;
  }

  /** Runs this as a separate step, after a delay. */
  schedule(step: () => void | Promise<void>, delayMs = 0) {
    const own = () => this.#recorder.as({ by: this.#by }, step);
    if (delayMs > 0) this.scheduler.after(delayMs, own);
    else this.scheduler.add(own);
  }

  /** Checks later whether what it waits for exists. */
  retryAfter(step: () => void | Promise<void>, delayMs: number) {
    this.scheduler.look(delayMs, () => this.#recorder.as({ by: this.#by }, step));
  }

  /** The object of that name, if it has that uid. */
  get(storeKey: StoreKey, { namespace, name, uid }: ObjectReference & { uid?: string }): ApiObject | undefined {
    const found = this.state.store.get(storeKey, namespace, name);
    return found && (uid === undefined || found.metadata.uid === uid) ? found : undefined;
  }

  create(storeKey: StoreKey, object: NewObject) {
    const { namespace, name } = object.metadata;
    if (this.state.store.get(storeKey, namespace, name)) return;
    const uid = this.state.newUid?.() ?? '';
    const metadata = { ...object.metadata, uid, resourceVersion: '', creationTimestamp: timestamp(this.state.clock) };
    this.state.store.put(storeKey, { ...object, metadata } as ApiObject);
  }

  /** Changes the object if it exists; removes it if it is being deleted and has no finalizers left. */
  change(storeKey: StoreKey, ref: ObjectReference & { uid?: string }, changed: (object: ApiObject) => ApiObject) {
    const found = this.get(storeKey, ref);
    if (!found) return;
    const next = changed(found);
    const { namespace, name, deletionTimestamp, finalizers = [] } = next.metadata;
    if (deletionTimestamp && finalizers.length === 0) this.state.store.remove(storeKey, namespace, name);
    else this.state.store.put(storeKey, next);
  }

  /** Changes the fields of its status that differ; removes undefined ones. */
  patchStatus(storeKey: StoreKey, ref: ObjectReference & { uid?: string }, status: object) {
    const before = this.get(storeKey, ref)?.status as Record<string, unknown> | undefined;
    if (Object.entries(status).every(([key, value]) => isDeepStrictEqual(before?.[key], value))) return;
    this.change(storeKey, ref, (object) => {
      const fields = Object.entries({ ...(object.status as object), ...status });
      return { ...object, status: Object.fromEntries(fields.filter(([, value]) => value !== undefined)) };
    });
  }

  /** Removes the finalizer, if the object exists. */
  removeFinalizer(storeKey: StoreKey, ref: ObjectReference & { uid?: string }, finalizer: string) {
    this.change(storeKey, ref, (object) => ({ ...object, metadata: withoutFinalizer(object.metadata, finalizer) }));
  }

  /** Deletes as the API server does: an object with finalizers or a grace period is only marked. */
  async delete(
    storeKey: StoreKey,
    ref: ObjectReference & { uid?: string },
    propagationPolicy?: 'Background' | 'Foreground' | 'Orphan',
  ) {
    const found = this.get(storeKey, ref);
    const [group = '', plural = ''] = storeKey.split('/');
    const kind = this.state.kinds.anyVersion(group, plural);
    if (found && kind)
      await deleteObject(this.state, kind, found.metadata as ObjectReference & { namespace: string }, {
        user: this.#by,
        propagationPolicy,
      });
  }
}
