import type { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { namespaceOf, workspaceChild } from '../../../shared/workspaces/workspace.ts';

/** On a Job, its Pods and its ConfigMap: the machine that its roles are for. */
export const machineLabel = 'pelotech.ot/virtual-machine';

/** The metadata of what is made for the roles of a workspace, in its namespace. */
export function metadataOf(workspace: Workspace, name: string, labels: Readonly<Record<string, string>> = {}) {
  const metadata = workspaceChild(workspace, { namespace: namespaceOf(workspace.metadata.name), name });
  return { ...metadata, labels: { ...metadata.labels, ...labels } as Readonly<Record<string, string>> };
}
