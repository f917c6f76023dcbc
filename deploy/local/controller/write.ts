import { randomUUID } from 'node:crypto';
import { Event } from '../../../shared/kinds/core/event.ts';
import {
  type KubernetesObject,
  type ObjectReference,
  type Resource,
  referenceOf,
} from '../../../shared/kinds/resource.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import { ApiError, hasStatus } from '../../../shared/runtime/errors.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Clock } from '../clock.ts';

export interface EventText {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** One write to the API server as plain data, so that what a controller decides can be tested without one. */
export type Write =
  | { do: 'create'; resource: Resource; object: { metadata: ObjectReference } }
  | { do: 'patch'; resource: Resource; ref: ObjectReference; patch: Record<string, unknown>; subresource?: 'status' }
  | { do: 'delete'; resource: Resource; ref: ObjectReference; uid: string; graceSeconds?: number }
  | ({ do: 'event'; about: KubernetesObject; from: string } & EventText);

/** A change of metadata or spec. */
export const patchOf = (resource: Resource, object: KubernetesObject, patch: Record<string, unknown>): Write => ({
  do: 'patch',
  resource,
  ref: referenceOf(object),
  patch,
});

/** A change of status, which is a subresource of every kind written here. */
export const statusOf = (resource: Resource, object: KubernetesObject, status: unknown): Write => ({
  do: 'patch',
  resource,
  ref: referenceOf(object),
  patch: { status },
  subresource: 'status',
});

export const deletionOf = (resource: Resource, object: KubernetesObject): Write => ({
  do: 'delete',
  resource,
  ref: referenceOf(object),
  uid: object.metadata.uid,
});

/** Deletes an object, unless that is under way. */
export const removalOf = (resource: Resource, object: KubernetesObject): Write[] =>
  object.metadata.deletionTimestamp ? [] : [deletionOf(resource, object)];

/** Sets all finalizers, unless someone changed the object meanwhile (409). */
export function finalizersOf(resource: Resource, object: KubernetesObject, finalizers: string[]): Write {
  const { uid, resourceVersion } = object.metadata;
  return patchOf(resource, object, { metadata: { uid, resourceVersion, finalizers } });
}

export const withoutFinalizer = (resource: Resource, object: KubernetesObject, finalizer: string): Write =>
  finalizersOf(
    resource,
    object,
    (object.metadata.finalizers ?? []).filter((name) => name !== finalizer),
  );

export const withFinalizer = (resource: Resource, object: KubernetesObject, finalizer: string): Write =>
  finalizersOf(resource, object, [...(object.metadata.finalizers ?? []), finalizer]);

/** Makes the Events that one component sends. */
export const eventsFrom =
  (from: string) =>
  (about: KubernetesObject, type: EventText['type'], reason: string, message: string): Write => ({
    do: 'event',
    about,
    from,
    type,
    reason,
    message,
  });

/** Performs writes for a controller. */
interface Writer {
  /** Performs writes in order; an object that already exists, or is already deleted, counts as written. Events are sent in parallel. */
  perform(writes: readonly Write[]): Promise<void>;
  /** Resolves when all events are out. */
  settled(): Promise<void>;
}

type Learn = (resource: Resource, object: KubernetesObject) => void;

/** A writer that tells `learn` what the API server answered. */
export function writer(kube: Kube, clock: Clock, fieldManager: string, learn: Learn): Writer {
  const events = new Set<Promise<unknown>>();
  // As with Kubernetes' own recorder, no caller waits for an event, and a failed one is lost.
  const emit = (event: EventWrite) => {
    const sent: Promise<unknown> = kube
      .create(Event, eventObject(event, clock.now()))
      .catch(() => undefined)
      .finally(() => events.delete(sent));
    events.add(sent);
  };
  return {
    async perform(writes) {
      for (const write of writes) {
        if (write.do === 'event') emit(write);
        else await performOne(kube, write, fieldManager, learn).catch(unlessDone);
      }
    },
    settled: async () => void (await Promise.all(events)),
  };
}

function unlessDone(error: unknown) {
  const isDone = hasStatus(error, 404) || (error instanceof ApiError && error.reason === 'AlreadyExists');
  if (!isDone) throw error;
}

type EventWrite = Extract<Write, { do: 'event' }>;

async function performOne(kube: Kube, write: Exclude<Write, EventWrite>, fieldManager: string, learn: Learn) {
  const { resource } = write;
  switch (write.do) {
    case 'create':
      return learn(resource, await kube.create(resource, write.object, fieldManager));
    case 'patch': {
      const { ref, patch, subresource } = write;
      return learn(
        resource,
        await kube.patch(resource, ref, patch, { fieldManager, ...(subresource ? { subresource } : {}) }),
      );
    }
    case 'delete':
      return kube.delete(resource, write.ref, { uid: write.uid }, write.graceSeconds);
  }
}

function eventObject(write: EventWrite, nowMs: number) {
  const { about, type, reason, message, from } = write;
  const { name, uid, resourceVersion } = about.metadata;
  // Events about cluster-scoped objects live in `default`, as client-go's recorder puts them.
  const namespace = about.metadata.namespace ?? 'default';
  const time = toTime(nowMs);
  return {
    metadata: { namespace, name: `${name}.${randomUUID().replaceAll('-', '').slice(0, 16)}` },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      ...(about.metadata.namespace ? { namespace } : {}),
      name,
      uid,
      resourceVersion,
    },
    type,
    reason,
    message,
    source: { component: from },
    reportingComponent: from,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}
