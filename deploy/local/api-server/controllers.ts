import type { ClusterState } from './cluster-state.ts';
import { createObject } from './create-object.ts';
import { startCustomKindController } from './custom-kind-controller.ts';
import { startGarbageCollector } from './garbage-collector.ts';
import { startNamespaceController } from './namespace-controller.ts';
import { systemWrite } from './system-change.ts';

/** Starts what keeps the server's own promises and makes the namespaces every cluster has; returns what stops it. */
export async function startControllers(state: ClusterState): Promise<() => void> {
  const stops = [startCustomKindController(state), startGarbageCollector(state), startNamespaceController(state)];
  // What a cluster that was there before has left undone is taken up again.
  state.store.replay();
  const namespaces = state.kinds.find('', 'v1', 'namespaces');
  for (const name of namespaces ? ['default', 'kube-system'] : []) {
    if (namespaces && !state.store.get('/namespaces', undefined, name))
      await createObject(state, namespaces, undefined, { metadata: { name } }, systemWrite('system:apiserver'));
  }
  return () => {
    for (const stop of stops) stop();
  };
}
