import { imageUidLabel, managedBy } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../../shared/kinds/resource.ts';
import { isOwnedByKind } from '../../../shared/kubernetes/ownership.ts';
import { labelSelector } from '../../../shared/kubernetes/selectors.ts';
import { type Cluster, InstallError } from './cluster.ts';
import { kindsDefinedBy, removeFinalizers } from './finalizers.ts';
import { type AnyObject, anyOf, DataVolume, formatPlace } from './kinds.ts';
import { leftOf, listOf } from './wait.ts';

/** Deletes all objects of a kind, and waits until they and the objects that were created for them are deleted. */
export async function deleteObjects(
  cluster: Cluster,
  definition: AnyObject,
  { hasFunctions }: { hasFunctions: boolean },
): Promise<void> {
  for (const resource of kindsDefinedBy([definition])) {
    const objects = await listOf(cluster.kube, resource);
    for (const { metadata } of objects) await cluster.kube.delete(resource, metadata);
    const uids = new Set(objects.map(({ metadata }) => metadata.uid));
    // No function is left to do this.
    if (!hasFunctions) {
      await removeFinalizers(cluster, [definition]);
      await deleteSnapshotsOf(cluster, uids);
    }
    const left = await leftOf(cluster, resource, ({ metadata }) => uids.has(metadata.uid));
    assertNoneLeft(cluster, `all ${resource.plural}`, left);
    for (const kind of madeKinds) {
      const made = await leftOf(cluster, kind, isMadeFor(resource, uids), { labelSelector: labelSelector(managedBy) });
      assertNoneLeft(cluster, `the objects created for ${resource.plural}`, made);
    }
    if (objects.length > 0) cluster.say(`${resource.plural}: ${objects.length} deleted`);
  }
}

const VolumeSnapshot = anyOf('snapshot.storage.k8s.io/v1', 'VolumeSnapshot');

/** The garbage collector deletes no snapshots, because snapshots have no owner. */
async function deleteSnapshotsOf(cluster: Cluster, uids: ReadonlySet<string>): Promise<void> {
  const made = await listOf(cluster.kube, VolumeSnapshot, { labelSelector: imageUidLabel });
  for (const { metadata } of made)
    if (uids.has(metadata.labels?.[imageUidLabel] ?? '')) await cluster.kube.delete(VolumeSnapshot, metadata);
}

/** The kinds of the objects that are created for machines and images. */
const madeKinds = [anyOf('kubevirt.io/v1', 'VirtualMachine'), DataVolume, VolumeSnapshot, anyOf('v1', 'Secret')];

/** By its label, or by its owner reference, which the garbage collector follows only while the owner's kind is served. */
const isMadeFor = (resource: Resource, uids: ReadonlySet<string>) => (object: AnyObject) =>
  uids.has(object.metadata.labels?.[imageUidLabel] ?? '') || isOwnedByKind(resource, object);

function assertNoneLeft({ timeoutMs }: Cluster, what: string, left: readonly AnyObject[]): void {
  if (left.length === 0) return;
  const named = left.slice(0, 5).map((object) => {
    const { finalizers = [] } = object.metadata;
    return `${formatPlace(object)}${finalizers.length > 0 ? ` (finalizers: ${finalizers.join(', ')})` : ''}`;
  });
  throw new InstallError(
    `expected ${what} to be deleted within ${timeoutMs / 1000} s, found ${left.length} left: ${named.join(', ')}. Nothing else was removed: inspect them with kubectl describe, then run the same command again.`,
  );
}
