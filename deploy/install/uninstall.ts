import { imageUidLabel, managedBy } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { labelSelector } from '../../shared/rules/selectors.ts';
import { type Cluster, InstallError } from './cluster.ts';
import { kindsDefinedBy, removeFinalizers } from './finalizers.ts';
import { type Inventory, inventoryOf } from './inventory.ts';
import { type AnyObject, anyOf, sayObject } from './kinds.ts';
import { removeNamespace } from './namespace.ts';
import { removeAll, removeFunctions } from './remove.ts';
import { removeTriggers } from './triggers.ts';
import { listOf, waitFor } from './wait.ts';

export interface UninstallOptions {
  /** What an installation ships: its CRDs, its policy. */
  shipped: readonly AnyObject[];
  /** First deletes all images, with what was made for them, while the functions that do so are still there. */
  deleteImages: boolean;
  /** In the end deletes the CRDs; refused while objects of theirs are to stay. */
  deleteCrds: boolean;
}

/**
 * Takes down what was installed, in the order in which nothing strands: no new work, nobody's finalizer left, then
 * receivers before those who send to them. Images and CRDs stay unless asked for otherwise. Doing it again goes on where
 * it was interrupted.
 */
export async function uninstall(cluster: Cluster, options: UninstallOptions): Promise<void> {
  const { shipped, deleteImages, deleteCrds } = options;
  const definitions = shipped.filter(({ kind }) => kind === 'CustomResourceDefinition');
  const inventory = await inventoryOf(cluster);
  if (deleteImages) await deleteObjects(cluster, definitions, inventory);
  else if (deleteCrds) await assertNoObjects(cluster, definitions);
  await removeAll(cluster, inventory.sources);
  await warnOfAttempts(cluster);
  await freeObjects(cluster, definitions);
  await removeTriggers(cluster, inventory.triggers);
  await removeFunctions(cluster, inventory.functions);
  // Whoever was still at work may have set one again.
  await freeObjects(cluster, definitions);
  await removeAll(cluster, inventory.broker);
  await removeAll(cluster, inventory.permissions);
  await removeNamespace(cluster, shipped);
  if (deleteCrds) await removeDefinitions(cluster, definitions);
}

/** Takes our finalizers off whatever carries them, and says so. */
export async function freeObjects(cluster: Cluster, definitions: readonly AnyObject[]): Promise<void> {
  const count = await removeFinalizers(cluster, definitions);
  if (count > 0) cluster.say(`finalizers: taken off ${count} ${count === 1 ? 'object' : 'objects'}`);
}

async function objectsOf({ kube }: Cluster, definitions: readonly AnyObject[]): Promise<AnyObject[]> {
  const lists = await Promise.all(kindsDefinedBy(definitions).map((resource) => listOf(kube, resource)));
  return lists.flat();
}

async function deleteObjects(cluster: Cluster, definitions: readonly AnyObject[], { functions }: Inventory) {
  for (const resource of kindsDefinedBy(definitions)) {
    const objects = await listOf(cluster.kube, resource);
    for (const { metadata } of objects) await cluster.kube.delete(resource, metadata);
    // With no function left nobody takes off the finalizers, and what was made goes by its owner references.
    if (functions.length === 0) continue;
    const results = await Promise.all(
      objects.map(({ metadata }) =>
        waitFor(cluster, resource, metadata, (object) => object?.metadata.uid !== metadata.uid),
      ),
    );
    const late = results
      .filter(({ isLate }) => isLate)
      .map(({ object }) => object)
      .filter((object) => object !== undefined);
    if (late.length > 0) {
      throw new InstallError(
        `expected all ${resource.plural} to be gone within ${cluster.timeoutMs / 1000} s, found ${late.length} left: ${late.slice(0, 5).map(sayPlace).join(', ')}. Nothing else was taken down: look at them with kubectl describe, then run the same command again.`,
      );
    }
    if (objects.length > 0) cluster.say(`${resource.plural}: ${objects.length} deleted`);
  }
}

async function assertNoObjects(cluster: Cluster, definitions: readonly AnyObject[]): Promise<void> {
  const [first, ...more] = await objectsOf(cluster, definitions);
  if (!first) return;
  throw new InstallError(
    `expected no object of ours to be left, found ${sayPlace(first)}${more.length > 0 ? ` and ${more.length} more` : ''}: they would go with the CRDs, and their snapshots with them. Nothing was taken down: add --delete-images, or leave out --delete-crds.`,
  );
}

const sayPlace = (object: AnyObject) => `${sayObject(object)} in ${object.metadata.namespace}`;

const DataVolume = anyOf('cdi.kubevirt.io/v1beta1', 'DataVolume');

/** CDI tries a failing import again for ever, and nobody will be there to end it. */
async function warnOfAttempts({ kube, say }: Cluster): Promise<void> {
  const dataVolumes = await listOf(kube, DataVolume, { labelSelector: labelSelector(managedBy) });
  const running = dataVolumes.filter(({ status }) => (status as { phase?: string } | undefined)?.phase !== 'Succeeded');
  if (running.length === 0) return;
  say(
    `${running.length} downloads go on, and nobody ends one that fails: kubectl delete datavolumes -A -l ${imageUidLabel} ends them`,
  );
}

async function removeDefinitions(cluster: Cluster, definitions: readonly AnyObject[]): Promise<void> {
  await freeObjects(cluster, definitions);
  await removeAll(cluster, definitions);
}
