import type { Action } from '../../shared/actions.ts';
import { Secret, withoutData } from '../../shared/kinds/core/secret.ts';
import { credentialsFinalizer } from '../../shared/kinds/kupenstack/condition.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../shared/kubernetes/finalizer.ts';

/** The credentials of one namespace, and whether something in it needs them. */
export interface Observed {
  secret: Secret;
  isNeeded: boolean;
}

/** Keeps a namespace's credentials for OpenStack as long as they are needed to delete something in it. */
export function decide({ secret, isNeeded }: Observed): Action[] {
  const isKept = hasFinalizer(secret, credentialsFinalizer);
  // An object that is being deleted takes no more finalizers.
  if (isKept === isNeeded || (isNeeded && secret.metadata.deletionTimestamp)) return [];
  const change = isNeeded ? addFinalizer : removeFinalizer;
  return [{ ...change(Secret, secret, credentialsFinalizer), of: withoutData(secret) }];
}
