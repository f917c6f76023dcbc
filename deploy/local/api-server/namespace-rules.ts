import type { Kind } from './kind.ts';
import { type ApiObject, isJsonObject } from './objects.ts';

/** Holds a deleted namespace until its contents are gone. */
const contentFinalizer = 'kubernetes';

/** What the server sets in a Namespace. */
export const namespaceRules: Partial<Kind> = {
  prepareForCreate: (namespace) => {
    namespace.metadata.labels = {
      ...namespace.metadata.labels,
      'kubernetes.io/metadata.name': namespace.metadata.name,
    };
    namespace.spec = { finalizers: [contentFinalizer] };
    namespace.status = { phase: 'Active' };
  },
  prepareForUpdate: (namespace, old) => {
    // Only the namespace controller takes the finalizer away, through /finalize.
    namespace.spec = old.spec;
  },
  prepareForDelete: (namespace) => {
    const { deletionGracePeriodSeconds: _, ...metadata } = namespace.metadata;
    return { ...namespace, metadata, status: { phase: 'Terminating' } } as ApiObject;
  },
  isHeld: ({ spec }) => isJsonObject(spec) && Array.isArray(spec.finalizers) && spec.finalizers.length > 0,
};

/** The namespace without what held it for its contents' sake. */
export const emptied = (namespace: ApiObject): ApiObject => ({ ...namespace, spec: {} });
