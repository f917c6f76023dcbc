import type { Action } from '../../shared/actions.ts';
import type { Secret } from '../../shared/kinds/core/secret.ts';
import { deleteProject, type Project } from '../../shared/kinds/openstack/project.ts';
import { uidTag } from '../../shared/kinds/openstack/request.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import { callsFor } from '../../shared/openstack/status.ts';

/** The projects that were made for namespaces, and the namespaces that there are. */
export interface Observed {
  refusals: Refusals;
  /** The account that made them. */
  account: Secret;
  projects: readonly (Project & { isEmpty: boolean })[];
  namespaces: readonly { metadata: { uid: string } }[];
}

/**
 * Deletes projects of namespaces that are gone. Keystone would leave what is in one behind as orphans (keystone 22): a project that
 * a user put something into by hand stays.
 */
export function decide({ refusals, account, projects, namespaces }: Observed): Action[] {
  const living = new Set(namespaces.map(({ metadata }) => uidTag(metadata.uid)));
  const retired = projects.filter(({ tags, isEmpty }) => isEmpty && !tags.some((tag) => living.has(tag)));
  const { apiVersion, kind, metadata } = account;
  const { name, namespace, uid, resourceVersion } = metadata;
  return callsFor(
    // Its data, and what kubectl notes of it, have no business in an action.
    { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } },
    retired.map(({ id }) => deleteProject(id)),
    refusals,
  );
}
