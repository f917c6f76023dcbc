import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, managedBy } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { isOwnedByKind } from '../../../shared/kubernetes/ownership.ts';
import { labelSelector } from '../../../shared/kubernetes/selectors.ts';
import { type Cluster, InstallError } from './cluster.ts';
import { deleteObjects } from './delete-objects.ts';
import { assertNoWorkspace, deleteWorkspaces } from './delete-workspaces.ts';
import { kindsDefinedBy, removeFinalizers } from './finalizers.ts';
import { inventoryOf } from './inventory.ts';
import { type AnyObject, DataVolume, formatPlace, workloads } from './kinds.ts';
import { removeNamespace } from './namespace.ts';
import { removeAll, removeFunctions } from './remove.ts';
import { removeTriggers } from './triggers.ts';
import { listOf } from './wait.ts';

interface UninstallOptions {
  /** The manifests of every installation: CRDs and policy. */
  shipped: readonly AnyObject[];
  /** First deletes all workspaces with everything in them, while the functions exist; with workspaces, uninstall is refused without it. */
  deleteWorkspaces: boolean;
  /** Then deletes all machines with their disks, while their functions exist. */
  deleteMachines: boolean;
  /** Then deletes all images with their volumes and snapshots; refused while machines that use them stay. */
  deleteImages: boolean;
  /** Finally deletes the CRDs; refused while objects of their kinds stay. */
  deleteCrds: boolean;
}

/**
 * Removes an installation in an order that leaves nothing stuck: no workspace may be left (otherwise nothing is done), no new work
 * starts, our finalizers are removed, then receivers are deleted before their senders. Machines, images and CRDs stay unless the options
 * say otherwise. Running it again continues an interrupted run.
 */
export async function uninstall(cluster: Cluster, options: UninstallOptions): Promise<void> {
  const definitions = options.shipped.filter(({ kind }) => kind === 'CustomResourceDefinition');
  const inventory = await inventoryOf(cluster);
  await assertCanGo(cluster, definitions, options);
  const hasFunctions = inventory.functions.some(isFunction);
  await deleteWorkspaces(cluster, { hasFunctions });
  for (const definition of going(definitions, options)) await deleteObjects(cluster, definition, { hasFunctions });
  await warnOfAttempts(cluster);
  await reportMachines(cluster, definitions);
  await stopFunctions(cluster, definitions, inventory);
  await removeAll(cluster, inventory.broker);
  await removeAll(cluster, inventory.permissions);
  await removeNamespace(cluster, options.shipped);
  if (options.deleteCrds) await removeDefinitions(cluster, definitions);
}

/** No new work starts, our finalizers are removed, then receivers are deleted before their senders. */
export async function stopFunctions(
  cluster: Cluster,
  definitions: readonly AnyObject[],
  { sources, triggers, functions }: Record<'sources' | 'triggers' | 'functions', readonly AnyObject[]>,
): Promise<void> {
  await removeAll(cluster, sources);
  await freeObjects(cluster, definitions);
  await removeTriggers(cluster, triggers);
  await removeFunctions(cluster, functions);
  // A function that was still running may have added a finalizer again.
  await freeObjects(cluster, definitions);
}

/** Throws if there is what only functions can end: workspaces, and objects on OpenStack. */
export async function assertNothingUnfinished(cluster: Cluster, definitions: readonly AnyObject[]): Promise<void> {
  await assertNoWorkspace(cluster);
  await assertNothingOnOpenStack(cluster, definitions.filter(definesOnOpenStack));
}

const isFunction = ({ apiVersion, kind }: AnyObject) =>
  workloads.some((resource) => resource.apiVersion === apiVersion && resource.kind === kind);

/** Removes our finalizers from every object, and prints a line. */
export async function freeObjects(cluster: Cluster, definitions: readonly AnyObject[]): Promise<void> {
  const count = await removeFinalizers(cluster, definitions);
  if (count > 0) cluster.say(`finalizers: removed from ${count} ${count === 1 ? 'object' : 'objects'}`);
}

const group = VirtualMachine.apiVersion.split('/')[0];

const definesWorkspaces = ({ metadata }: AnyObject) => metadata.name === `${Workspace.plural}.${group}`;

const definesMachines = ({ metadata }: AnyObject) => metadata.name === `${VirtualMachine.plural}.${group}`;

const definesOnOpenStack = ({ metadata }: AnyObject) => metadata.name.endsWith('.kupenstack.io');

const definesOthers = (definition: AnyObject) =>
  !definesMachines(definition) && !definesWorkspaces(definition) && !definesOnOpenStack(definition);

/**
 * The definitions whose objects are to be deleted after workspaces: machines first, because an image is not deleted while a machine uses it.
 */
const going = (definitions: readonly AnyObject[], { deleteMachines, deleteImages }: UninstallOptions) => [
  ...(deleteMachines ? definitions.filter(definesMachines) : []),
  ...(deleteImages ? definitions.filter(definesOthers) : []),
];

/** Refuses an uninstall that could not be completed or would delete more than was asked for. */
async function assertCanGo(cluster: Cluster, definitions: readonly AnyObject[], options: UninstallOptions) {
  if (!options.deleteWorkspaces) await assertNoWorkspace(cluster);
  await assertNothingOnOpenStack(cluster, definitions.filter(definesOnOpenStack));
  const kept = definitions.filter((definition) => !going(definitions, options).includes(definition));
  const { machines, others } = await keptOf(cluster, kept);
  const because = options.deleteCrds
    ? { objects: [...machines, ...others], of: 'they would be deleted with the CRDs, with their disks and snapshots' }
    : { objects: options.deleteImages ? machines : [], of: 'an image is not deleted while a machine uses it' };
  const [first, ...more] = because.objects;
  if (!first) return;
  const add = [
    ...(machines.length > 0 ? ['--delete-machines'] : []),
    ...(others.length > 0 && options.deleteCrds ? ['--delete-images'] : []),
  ];
  throw new InstallError(
    `expected no object of ours to be left, found ${formatPlace(first)}${more.length > 0 ? ` and ${more.length} more` : ''}: ${because.of}. Nothing was removed: add ${add.join(' and ')}, or leave out ${options.deleteCrds ? '--delete-crds' : '--delete-images'}.`,
  );
}

/** Without functions, objects in OpenStack would stay, and cost money. */
async function assertNothingOnOpenStack({ kube }: Cluster, definitions: readonly AnyObject[]) {
  const kinds = kindsDefinedBy(definitions);
  const [first, ...more] = (await Promise.all(kinds.map((resource) => listOf(kube, resource)))).flat();
  if (!first) return;
  const names = definitions.map(({ metadata }) => metadata.name).join(',');
  throw new InstallError(
    `expected nothing of ours to be left on OpenStack, found ${formatPlace(first)}${more.length > 0 ? ` and ${more.length} more` : ''}: no function would delete it there. Nothing was removed. Delete it first: kubectl delete ${names} --all --all-namespaces`,
  );
}

async function keptOf({ kube }: Cluster, definitions: readonly AnyObject[]) {
  const objectsOf = async (some: readonly AnyObject[]) =>
    (await Promise.all(kindsDefinedBy(some).map((resource) => listOf(kube, resource)))).flat();
  return {
    // Machines of workspaces are deleted by then.
    machines: (await objectsOf(definitions.filter(definesMachines))).filter(
      (machine) => !isOwnedByKind(Workspace, machine),
    ),
    others: await objectsOf(definitions.filter(definesOthers)),
  };
}

/** CDI retries a failing import forever, and no function would stop it. */
async function warnOfAttempts({ kube, say }: Cluster): Promise<void> {
  const ofImages = `${labelSelector(managedBy)},${imageUidLabel}`;
  const dataVolumes = await listOf(kube, DataVolume, { labelSelector: ofImages });
  const running = dataVolumes.filter(({ status }) => (status as { phase?: string } | undefined)?.phase !== 'Succeeded');
  if (running.length === 0) return;
  say(
    `${running.length} downloads continue, and no function stops one that fails. To stop them: kubectl delete datavolumes -A -l ${imageUidLabel}`,
  );
}

async function reportMachines(cluster: Cluster, definitions: readonly AnyObject[]): Promise<void> {
  const { machines } = await keptOf(cluster, definitions);
  if (machines.length === 0) return;
  const what = machines.length === 1 ? '1 machine stays' : `${machines.length} machines stay`;
  cluster.say(`${what}: they keep running in KubeVirt without the functions; deleting one also deletes its disk`);
}

async function removeDefinitions(cluster: Cluster, definitions: readonly AnyObject[]): Promise<void> {
  await freeObjects(cluster, definitions);
  await removeAll(cluster, definitions);
}
