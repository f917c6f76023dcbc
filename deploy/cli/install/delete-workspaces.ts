import { managedBy } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace, workspaceFinalizer, workspaceUidLabel } from '../../../shared/kinds/pelotech/workspace.ts';
import { labelSelector } from '../../../shared/kubernetes/selectors.ts';
import { type Cluster, InstallError } from './cluster.ts';
import { formatObject, Namespace } from './kinds.ts';
import { leftOf, listOf } from './wait.ts';

/** A workspace without its functions looks healthy although nothing reconciles it; so its owner must agree to the deletion. */
export async function assertNoWorkspace({ kube }: Cluster): Promise<void> {
  const [first, ...more] = await listOf(kube, Workspace);
  if (!first) return;
  throw new InstallError(
    `expected no workspace, found ${formatObject(first)}${more.length > 0 ? ` and ${more.length} more` : ''}: no function would reconcile or delete them. Nothing was removed: delete them (kubectl get otws), or add --delete-workspaces.`,
  );
}

/**
 * Deletes all workspaces and waits until they and their namespaces are deleted, for as long as any of them makes progress. Prints the
 * messages of the workspaces, and what blocks those that make no progress.
 */
export async function deleteWorkspaces(cluster: Cluster, { hasFunctions }: { hasFunctions: boolean }): Promise<void> {
  const { kube, say } = cluster;
  const found = await listOf(kube, Workspace);
  if (found.length === 0) return;
  for (const { metadata } of found) await kube.delete(Workspace, { name: metadata.name });
  // Without functions the garbage collector deletes the components, in no order.
  if (!hasFunctions) await removeFinalizers(cluster, found);
  await untilGone(cluster, new Map(found.map((workspace) => [workspace.metadata.uid, workspace])));
  const namespaces = { labelSelector: `${labelSelector(managedBy)},${workspaceUidLabel}` };
  const left = await leftOf(cluster, Namespace, () => true, namespaces);
  if (left.length > 0) throw notGone(cluster, left.map(formatObject));
  say(`${Workspace.plural}: ${found.length} deleted`);
}

async function removeFinalizers({ kube }: Cluster, workspaces: readonly Workspace[]): Promise<void> {
  for (const { metadata } of workspaces) {
    const now = await kube.get(Workspace, { name: metadata.name });
    const { uid, resourceVersion, finalizers = [] } = now?.metadata ?? metadata;
    const others = finalizers.filter((name) => name !== workspaceFinalizer);
    if (now) await kube.patch(Workspace, metadata, { metadata: { uid, resourceVersion, finalizers: others } });
  }
}

async function untilGone(cluster: Cluster, left: Map<string, Workspace>): Promise<void> {
  const { kube, timeoutMs, say } = cluster;
  const total = left.size;
  const gone = (workspace: Workspace) => {
    if (left.delete(workspace.metadata.uid))
      say(`${formatObject(workspace)} is deleted (${total - left.size}/${total})`);
  };
  while (left.size > 0) {
    const [page, ...pages] = await Array.fromAsync(kube.pages(Workspace));
    const there = new Map([page, ...pages].flatMap((one) => one?.items ?? []).map((one) => [one.metadata.uid, one]));
    for (const workspace of [...left.values()]) if (!there.has(workspace.metadata.uid)) gone(workspace);
    if (left.size === 0) return;
    const stalled = new AbortController();
    const done = new AbortController();
    const giveUp = () => stalled.abort();
    let timer = setTimeout(giveUp, timeoutMs);
    const signal = AbortSignal.any([stalled.signal, done.signal]);
    await kube
      .watch(Workspace, { resourceVersion: page?.resourceVersion ?? '', signal }, ({ type, object }) => {
        const before = left.get(object.metadata.uid);
        if (!before) return;
        if (type === 'DELETED') gone(object);
        else if (object.status?.message !== before.status?.message) {
          left.set(object.metadata.uid, object);
          say(`${formatObject(object)}: ${object.status?.message ?? ''}`);
        } else return;
        clearTimeout(timer);
        timer = setTimeout(giveUp, timeoutMs);
        if (left.size === 0) done.abort();
      })
      .finally(() => clearTimeout(timer));
    if (stalled.signal.aborted && left.size > 0) throw notGone(cluster, [...left.values()].map(describeStanding));
  }
}

const describeStanding = (workspace: Workspace) =>
  `${formatObject(workspace)} (${workspace.status?.message ?? 'no message'})`;

const notGone = ({ timeoutMs }: Cluster, left: readonly string[]) =>
  new InstallError(
    `expected all workspaces to be deleted, found ${left.length} without progress for ${timeoutMs / 1000} s: ${left.slice(0, 5).join(', ')}. Nothing else was removed: inspect them with kubectl describe, then run the same command again.`,
  );
