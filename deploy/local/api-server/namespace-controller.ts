import { serviceAccountUser } from './authentication.ts';
import { type ClusterState, timestamp } from './cluster-state.ts';
import { deleteObject } from './delete-object.ts';
import { type Kind, storeKeyOf } from './kind.ts';
import { emptied } from './namespace-rules.ts';
import { type ApiObject, objectsAt, sameContent } from './objects.ts';
import { StatusError } from './status-error.ts';
import { workQueue } from './work-queue.ts';

const user = serviceAccountUser({ namespace: 'kube-system', name: 'namespace-controller' }).name;
const storeKey = '/namespaces';

/** Empties a deleted namespace and lets it go when nothing is left in it. */
export function startNamespaceController(state: ClusterState): () => void {
  const queue = workQueue(state.clock, (name) => finish(state, name));
  const isGoing = (name: string) => state.store.get(storeKey, undefined, name)?.metadata.deletionTimestamp;
  const stop = state.store.observe(({ resource, object }) => {
    const name = resource === storeKey ? object.metadata.name : object.metadata.namespace;
    if (name && isGoing(name)) queue.add(name);
  });
  return () => {
    stop();
    queue.stop();
  };
}

async function finish(state: ClusterState, name: string) {
  for (const { kind, object } of contentsOf(state, name)) {
    if (!object.metadata.deletionTimestamp) await removeContent(state, kind, object);
  }
  const namespace = state.store.get(storeKey, undefined, name);
  if (!namespace) return;
  const remaining = contentsOf(state, name);
  const next = remaining.length > 0 ? waiting(namespace, remaining, timestamp(state.clock)) : emptied(namespace);
  const isOver = remaining.length === 0 && !namespace.metadata.finalizers?.length;
  if (isOver) state.store.remove(storeKey, undefined, name);
  else if (!sameContent(next, namespace)) state.store.put(storeKey, next);
}

/** Everything in a namespace, each resource in one of its versions. */
function contentsOf({ kinds, store }: ClusterState, namespace: string): { kind: Kind; object: ApiObject }[] {
  const kindOf = new Map(
    kinds
      .all()
      .filter((kind) => kind.namespaced)
      .map((kind) => [storeKeyOf(kind), kind]),
  );
  return [...kindOf].flatMap(([storeKey, kind]) => store.list(storeKey, namespace).map((object) => ({ kind, object })));
}

async function removeContent(state: ClusterState, kind: Kind, { metadata: { namespace, name } }: ApiObject) {
  try {
    await deleteObject(state, kind, { namespace, name }, { user, propagationPolicy: 'Background' });
  } catch (error) {
    if (!(error instanceof StatusError && error.status === 404)) throw error;
  }
}

/** The namespace saying what it waits for, in the words of the real controller. */
function waiting(namespace: ApiObject, remaining: { kind: Kind; object: ApiObject }[], now: string): ApiObject {
  const count = (names: string[]) =>
    [...Map.groupBy(names, (name) => name)].map(([name, same]) => ({ name, count: same.length }));
  const resources = count(remaining.map(({ kind }) => `${kind.plural}.${kind.group}`));
  const finalizers = count(remaining.flatMap(({ object }) => object.metadata.finalizers ?? []));
  const list = (counted: { name: string; count: number }[], verb: string) =>
    counted.map((each) => `${each.name} ${verb} ${each.count} resource instances`).join(', ');
  const conditions = [
    {
      type: 'NamespaceContentRemaining',
      status: 'True',
      reason: 'SomeResourcesRemain',
      message: `Some resources are remaining: ${list(resources, 'has')}`,
    },
    ...(finalizers.length === 0
      ? []
      : [
          {
            type: 'NamespaceFinalizersRemaining',
            status: 'True',
            reason: 'SomeFinalizersRemain',
            message: `Some content in the namespace has finalizers remaining: ${list(finalizers, 'in')}`,
          },
        ]),
  ];
  const status = { phase: 'Terminating', conditions: withTimes(conditions, namespace, now) };
  return { ...namespace, status };
}

function withTimes(conditions: { type: string; status: string }[], { status }: ApiObject, now: string) {
  const before = objectsAt(status, 'conditions');
  return conditions.map((condition) => {
    const old = before.find((each) => each.type === condition.type && each.status === condition.status);
    return { ...condition, lastTransitionTime: old?.lastTransitionTime ?? now };
  });
}
