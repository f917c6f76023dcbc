import type { OpenStackRequest } from './kinds/openstack/request.ts';
import type { KubernetesObject, ObjectReference, Resource } from './kinds/resource.ts';
import type { Reason } from './reasons/reason.ts';
import type { TraceOf } from './traces.ts';

/** The object as it was observed: enough to write to it only if it has not changed since. */
export interface AsRead {
  metadata: ObjectReference & { uid: string; resourceVersion: string };
}

/**
 * What a decision can ask for, as plain data; the shell performs them in order. A request belongs to the trace of the object that it
 * writes; `trace` names another, if it is done for an object of another kind. `group` and `atOnce` are set by `together` and `inStages`.
 */
export type Action = { trace?: TraceOf; group?: number; atOnce?: true } & (
  | {
      /**
       * POST. An existing object of that name counts as created if `owner` is in its owner references or labels. What is refused to
       * `askedBy` may be created for others.
       */
      do: 'create';
      resource: Resource;
      object: { metadata: ObjectReference & Record<string, unknown> } & Record<string, unknown>;
      owner?: string;
      askedBy?: string | undefined;
    }
  /**
   * PUT of an object as read before and changed: refused if another writer changed it in between. If the API server refuses the object
   * itself, that is among the refusals of an object with an `owner`, and an error of any other.
   */
  | {
      do: 'replace';
      resource: Resource;
      object: { metadata: AsRead['metadata'] & Record<string, unknown> } & Record<string, unknown>;
      owner?: string;
    }
  /** Merge patch of metadata, refused if another writer changed the object in between. */
  | { do: 'patchMetadata'; resource: Resource; of: AsRead; metadata: Readonly<Record<string, unknown>> }
  /**
   * Merge patch of the status, refused if another writer changed the object in between; null removes a field. `record` adds the uid of an
   * object that this reconcile created; of one that existed it adds none.
   */
  | {
      do: 'patchStatus';
      resource: Resource;
      of: AsRead;
      status: Readonly<Record<string, unknown>>;
      record?: { created: { resource: Resource; metadata: ObjectReference }; uidAt: readonly [string, string] };
    }
  /** Server-side apply under the function's name; with `force` only for fields that this function alone owns. */
  | {
      do: 'apply';
      resource: Resource;
      object: { metadata: ObjectReference & Record<string, unknown> } & Record<string, unknown>;
      subresource?: 'status';
      force?: boolean;
    }
  /** DELETE of that very object (uid); with `unchanged` only as it was observed. */
  | { do: 'delete'; resource: Resource; of: AsRead; unchanged?: boolean }
  /** A Kubernetes Event; the same `once` about the same object is recorded one time. */
  | {
      do: 'recordEvent';
      about: AsRead & { apiVersion: string; kind: string };
      type: 'Normal' | 'Warning';
      reason: Reason;
      message: string;
      once: string;
    }
  /** A domain event; consumers drop a repeated id. With an object in `about` it is repeated only while that exists. */
  | {
      do: 'publish';
      type: string;
      id: string;
      subject: string;
      data: Readonly<Record<string, unknown>>;
      /** Extension attributes, by which a Trigger can select; lower-case letters and digits. */
      attributes?: Readonly<Record<string, string>>;
      about?: { metadata: ObjectReference & { uid: string } };
    }
  /** A point of a metric of shared/runtime/telemetry/metrics.ts; of seconds that began at `since` a span of the trace, too. */
  | { do: 'measure'; metric: string; value: number; attributes?: Readonly<Record<string, string>>; since?: string }
  /**
   * Observes and decides again in this reconcile, also for this object: what was observed may have been out of date by the
   * time of the write.
   */
  | { do: 'requeue'; about: { apiVersion: string; kind: string; metadata: ObjectReference } }
  /**
   * A request to the OpenStack of the namespace of `of`. The function observes the result in this same reconcile. What OpenStack refuses is
   * among the refusals, by `callKey`.
   */
  | {
      do: 'call';
      of: AsRead & { apiVersion: string; kind: string };
      request: OpenStackRequest;
    }
  /**
   * Runs this function for this object after that time: only a hint, which is forgotten with the process, about what sends no
   * events of its own.
   */
  | {
      do: 'requeueAfter';
      about: { apiVersion: string; kind: string; metadata: ObjectReference };
      afterMs: number;
    }
  /** Has the Broker deliver the same event again: something must end first that sends no event of its own. */
  | { do: 'redeliver'; because: string }
);

/** Has a later reconcile look at the object of that name, whether it exists or not. */
export const requeueNamed = ({ apiVersion, kind }: Resource, metadata: ObjectReference, afterMs = 0): Action => ({
  do: 'requeueAfter',
  about: { apiVersion, kind, metadata },
  afterMs,
});

/** Groups that do not depend on one another: a failed action ends its group, and all actions without a group that follow. */
export const together = (groups: readonly (readonly Action[])[]): Action[] => groups.flatMap(inGroup);

/** The same in stages: of each stage the first actions of all groups are performed at once, then the others in order. */
export function inStages(stages: readonly (readonly (readonly Action[])[])[]): Action[] {
  let groups = 0;
  return stages.flatMap((stage) => {
    const numbered = stage.map((actions) => inGroup(actions, groups++));
    const firsts = numbered.flatMap(([first]): Action[] => (first ? [{ ...first, atOnce: true }] : []));
    return [...firsts, ...numbered.flatMap(([, ...others]) => others)];
  });
}

const inGroup = (actions: readonly Action[], group: number) => actions.map((action): Action => ({ ...action, group }));

export type Publish = Extract<Action, { do: 'publish' }>;

/** The domain events about the objects of a kind, rebuilt from their status: with the same ids and the same `time` in `data`. */
export interface Facts<T extends KubernetesObject = KubernetesObject> {
  resource: Resource<T>;
  of(object: T): readonly Publish[];
}
