import { isDeepStrictEqual } from 'node:util';
import { serviceAccountUser } from './authentication.ts';
import type { ClusterState } from './cluster-state.ts';
import { customKinds, definitionOf } from './custom-kinds.ts';
import { cleanupFinalizer } from './custom-resource-definition.ts';
import { deleteObject } from './delete-object.ts';
import type { ApiObject } from './objects.ts';
import { StatusError } from './status-error.ts';
import { changeMetadata, withoutFinalizer } from './system-change.ts';
import { workQueue } from './work-queue.ts';

const storeKey = 'apiextensions.k8s.io/customresourcedefinitions';
const user = serviceAccountUser({ namespace: 'kube-system', name: 'customresource-cleanup' }).name;

/** Serves what CustomResourceDefinitions define from the moment they are stored; a deleted one takes its objects along. */
export function startCustomKindController(state: ClusterState): () => void {
  const { store, kinds, clock } = state;
  const queue = workQueue(clock, (name) => cleanUp(state, name));
  const stops = [
    store.subscribe(storeKey, ({ type, object, previous }) => {
      if (isGoing(object)) queue.add(object.metadata.name);
      if (type === 'MODIFIED' && isDeepStrictEqual(previous?.spec, object.spec)) return;
      const { group, names } = definitionOf(object);
      kinds.remove(group, names.plural);
      if (type !== 'DELETED') for (const kind of customKinds(object)) kinds.add(kind);
    }),
    store.observe(({ type, resource }) => {
      const [group, plural] = resource.split('/');
      const definition = type === 'DELETED' && store.get(storeKey, undefined, `${plural}.${group}`);
      if (definition && isGoing(definition)) queue.add(definition.metadata.name);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    queue.stop();
  };
}

const isGoing = ({ metadata }: ApiObject) => metadata.deletionTimestamp !== undefined;

async function cleanUp(state: ClusterState, name: string) {
  const definition = state.store.get(storeKey, undefined, name);
  const kind = state.kinds.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  if (!definition || !kind) return;
  const { group, names } = definitionOf(definition);
  const custom = state.kinds.anyVersion(group, names.plural);
  for (const { metadata } of custom ? state.store.list(`${group}/${names.plural}`) : []) {
    if (!custom || metadata.deletionTimestamp) continue;
    await deleteObject(state, custom, { namespace: metadata.namespace, name: metadata.name }, { user }).catch(
      unlessGone,
    );
  }
  if (state.store.list(`${group}/${names.plural}`).length > 0) return;
  await changeMetadata(state, kind, definition, user, (metadata) => withoutFinalizer(metadata, cleanupFinalizer)).catch(
    unlessGone,
  );
}

function unlessGone(error: unknown) {
  if (!(error instanceof StatusError && error.status === 404)) throw error;
}
