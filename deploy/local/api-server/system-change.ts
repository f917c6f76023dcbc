import type { ClusterState } from './cluster-state.ts';
import type { Kind } from './kind.ts';
import type { ApiObject, Metadata } from './objects.ts';
import { updateObject } from './update-object.ts';

/** How the server's own controllers write. */
export const systemWrite = (user: string) => ({
  user,
  fieldManager: 'kube-controller-manager',
  dryRun: false,
  fieldValidation: 'Ignore' as const,
  warn: () => {},
});

/** Changes an object's metadata as one of the server's own controllers. */
export async function changeMetadata(
  state: ClusterState,
  kind: Kind,
  { metadata: { namespace, name } }: ApiObject,
  user: string,
  changed: (metadata: Metadata) => object,
) {
  const desired = (current: ApiObject) => ({ ...current, metadata: changed(current.metadata) });
  await updateObject(state, kind, { place: { namespace, name }, subresource: '', desired }, systemWrite(user));
}

export function withoutFinalizer({ finalizers = [], ...rest }: Metadata, finalizer: string): Metadata {
  const left = finalizers.filter((other) => other !== finalizer);
  return left.length > 0 ? { ...rest, finalizers: left } : rest;
}
