import type { Action } from '../../shared/actions.ts';
import { type Secret, withoutData } from '../../shared/kinds/core/secret.ts';
import { deleteProject, type Project } from '../../shared/kinds/openstack/project.ts';
import { uidTag } from '../../shared/kinds/openstack/request.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import { callsFor } from '../../shared/openstack/status.ts';

/** The projects that were made for namespaces which are gone. */
export interface Observed {
  refusals: Refusals;
  /** The account that made them. */
  account: Secret;
  retired: readonly (Project & { isEmpty: boolean })[];
}

/** Those of namespaces that are gone: nothing else is looked into. */
export function retiredAmong<P extends Project>(
  projects: readonly P[],
  namespaces: readonly { metadata: { uid: string } }[],
): P[] {
  const living = new Set(namespaces.map(({ metadata }) => uidTag(metadata.uid)));
  return projects.filter(({ tags }) => !tags.some((tag) => living.has(tag)));
}

/**
 * Deletes the empty ones. Keystone would leave what is in one behind as orphans (keystone 22): a project that a user put something
 * into by hand stays.
 */
export function decide({ refusals, account, retired }: Observed): Action[] {
  return callsFor(
    withoutData(account),
    retired.filter(({ isEmpty }) => isEmpty).map(({ id }) => deleteProject(id)),
    refusals,
  );
}
