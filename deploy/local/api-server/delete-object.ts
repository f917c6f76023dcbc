import { admissionRequest, admit } from './admission.ts';
import { type ClusterState, type ObjectPlace, timestamp } from './cluster-state.ts';
import { groupResourceOf, type Kind, presented, storeKeyOf } from './kind.ts';
import type { ApiObject } from './objects.ts';
import { askPolicies } from './policy-admission.ts';
import { conflict, notFound } from './status-error.ts';

/** How a DELETE was asked for: metav1.DeleteOptions, and by whom. */
export interface DeleteOptions {
  user: string;
  /** The groups that the user is in, and how to tell them something beside the answer. */
  groups?: readonly string[];
  warn?(message: string): void;
  dryRun?: boolean;
  preconditions?: { uid?: string | undefined; resourceVersion?: string | undefined } | undefined;
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  gracePeriodSeconds?: number | undefined;
}

/** DELETE: the object goes, or is marked as going while finalizers or a grace period hold it. */
export async function deleteObject(
  state: ClusterState,
  kind: Kind,
  place: ObjectPlace,
  options: DeleteOptions,
): Promise<{ object: ApiObject; gone: boolean }> {
  const storeKey = storeKeyOf(kind);
  for (;;) {
    const stored = state.store.get(storeKey, place.namespace, place.name);
    if (!stored) throw notFound(groupResourceOf(kind), place.name);
    assertMeant(kind, stored, options);
    const what = { operation: 'DELETE', object: undefined, oldObject: presented(kind, stored) } as const;
    const request = admissionRequest(kind, options, what);
    await admit(state.admission, request);
    askPolicies(state, request, options.warn ?? (() => undefined));
    if (state.store.get(storeKey, place.namespace, place.name) !== stored) continue;
    if (kind.orphansDependents && !options.propagationPolicy) options.warn?.(orphaned);
    return remove(state, kind, stored, options);
  }
}

const orphaned =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

function assertMeant(kind: Kind, { metadata }: ApiObject, { preconditions }: DeleteOptions) {
  const of = { group: '', resource: kind.kind };
  if (preconditions?.uid !== undefined && preconditions.uid !== metadata.uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict({ ...of, group: kind.group }, metadata.name, why);
  }
  const { resourceVersion } = preconditions ?? {};
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw conflict({ ...of, group: kind.group }, metadata.name, why);
  }
}

function remove(state: ClusterState, kind: Kind, stored: ApiObject, options: DeleteOptions) {
  const { metadata } = stored;
  const policy = options.propagationPolicy ?? (kind.orphansDependents ? 'Orphan' : undefined);
  const finalizers = finalizersFor(metadata.finalizers ?? [], policy);
  const grace = graceOf(kind, stored, options);
  if (finalizers.length === 0 && grace === 0 && !kind.isHeld?.(stored)) {
    const last = options.dryRun
      ? stored
      : (state.store.remove(storeKeyOf(kind), metadata.namespace, metadata.name) ?? stored);
    return { object: presented(kind, last), gone: true };
  }
  const isSame = metadata.deletionTimestamp && finalizers.join() === (metadata.finalizers ?? []).join();
  if (options.dryRun || (isSame && grace >= (metadata.deletionGracePeriodSeconds ?? 0))) {
    return { object: presented(kind, stored), gone: false };
  }
  const marked = terminating(state, kind, stored, finalizers, grace);
  return { object: presented(kind, state.store.put(storeKeyOf(kind), marked)), gone: false };
}

/** The finalizers that hold the object from now on: the garbage collector's own say what it has to do first. */
function finalizersFor(finalizers: string[], policy: DeleteOptions['propagationPolicy']): string[] {
  if (!policy) return finalizers;
  const others = finalizers.filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion');
  if (policy === 'Orphan') return [...others, 'orphan'];
  return policy === 'Foreground' ? [...others, 'foregroundDeletion'] : others;
}

function graceOf(kind: Kind, stored: ApiObject, { gracePeriodSeconds }: DeleteOptions): number {
  const usual = kind.gracePeriodSeconds?.(stored) ?? 0;
  return usual === 0 ? 0 : (gracePeriodSeconds ?? usual);
}

function terminating(
  { clock }: ClusterState,
  kind: Kind,
  stored: ApiObject,
  finalizers: string[],
  grace: number,
): ApiObject {
  const { finalizers: _, ...metadata } = stored.metadata;
  const goesAt = { now: () => clock.now() + grace * 1000, after: clock.after };
  const marked: ApiObject = {
    ...stored,
    metadata: {
      ...metadata,
      ...(finalizers.length > 0 && { finalizers }),
      deletionTimestamp: metadata.deletionTimestamp ?? timestamp(goesAt),
      deletionGracePeriodSeconds: grace,
      ...(kind.hasGeneration && !metadata.deletionTimestamp && { generation: (metadata.generation ?? 0) + 1 }),
    },
  };
  return kind.prepareForDelete ? kind.prepareForDelete(marked) : marked;
}
