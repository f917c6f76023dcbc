import type { ClusterState } from './cluster-state.ts';
import { groupResourceOf, type Kind } from './kind.ts';
import type { ApiObject } from './objects.ts';
import { forbidden, notFound, StatusError } from './status-error.ts';

/** Refuses what is created in a namespace that is not there (404) or on its way out (403), as NamespaceLifecycle does. */
export function assertNamespaceTakes({ store }: ClusterState, kind: Kind, { metadata }: ApiObject) {
  if (!kind.namespaced || !metadata.namespace) return;
  const namespace = store.get('/namespaces', undefined, metadata.namespace);
  if (!namespace) throw notFound({ group: '', resource: 'namespaces' }, metadata.namespace);
  if (!namespace.metadata.deletionTimestamp) return;
  throw forbidden(
    groupResourceOf(kind),
    metadata.name ?? '',
    `unable to create new content in namespace ${metadata.namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${metadata.namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/** Refuses new objects of a kind whose CustomResourceDefinition is on its way out. */
export function assertKindStays({ store }: ClusterState, { custom, group, plural }: Kind) {
  if (!custom) return;
  const definition = store.get('apiextensions.k8s.io/customresourcedefinitions', undefined, `${plural}.${group}`);
  if (!definition?.metadata.deletionTimestamp) return;
  throw new StatusError(405, 'MethodNotAllowed', 'create not allowed while custom resource definition is terminating');
}
