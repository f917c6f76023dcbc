import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, managedBy } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { labelSelector } from '../../shared/kubernetes/selectors.ts';
import { type Cluster, InstallError } from './cluster.ts';
import { deleteObjects } from './delete-objects.ts';
import { assertNoWorkspace, deleteWorkspaces, isOfWorkspace } from './delete-workspaces.ts';
import { kindsDefinedBy, removeFinalizers } from './finalizers.ts';
import { inventoryOf } from './inventory.ts';
import { type AnyObject, DataVolume, formatPlace } from './kinds.ts';
import { removeNamespace } from './namespace.ts';
import { removeAll, removeFunctions } from './remove.ts';
import { removeTriggers } from './triggers.ts';
import { listOf } from './wait.ts';

export interface UninstallOptions {
  /** What an installation ships: its CRDs, its policy. */
  shipped: readonly AnyObject[];
  /** First takes all workspaces down with everything in them, while the function that does it is there; refused without. */
  deleteWorkspaces: boolean;
  /** Then deletes all machines, with their disks, while the functions that let them go are still there. */
  deleteMachines: boolean;
  /** Then deletes all images, with what was made for them; refused while machines that hold them are to stay. */
  deleteImages: boolean;
  /** In the end deletes the CRDs; refused while objects of theirs are to stay. */
  deleteCrds: boolean;
}

/**
 * Takes down what was installed, in the order in which nothing strands: no workspace left (or nothing at all is done), no new
 * work, nobody's finalizer left, then
 * receivers before those who send to them. Machines, images and CRDs stay unless asked for otherwise. Doing it again goes on
 * where it was interrupted.
 */
export async function uninstall(cluster: Cluster, options: UninstallOptions): Promise<void> {
  const definitions = options.shipped.filter(({ kind }) => kind === 'CustomResourceDefinition');
  const inventory = await inventoryOf(cluster);
  await assertCanGo(cluster, definitions, options);
  const hasFunctions = inventory.functions.length > 0;
  await deleteWorkspaces(cluster, { hasFunctions });
  for (const definition of going(definitions, options)) await deleteObjects(cluster, definition, { hasFunctions });
  await removeAll(cluster, inventory.sources);
  await warnOfAttempts(cluster);
  await reportMachines(cluster, definitions);
  await freeObjects(cluster, definitions);
  await removeTriggers(cluster, inventory.triggers);
  await removeFunctions(cluster, inventory.functions);
  // Whoever was still at work may have set one again.
  await freeObjects(cluster, definitions);
  await removeAll(cluster, inventory.broker);
  await removeAll(cluster, inventory.permissions);
  await removeNamespace(cluster, options.shipped);
  if (options.deleteCrds) await removeDefinitions(cluster, definitions);
}

/** Takes our finalizers off whatever carries them, and says so. */
export async function freeObjects(cluster: Cluster, definitions: readonly AnyObject[]): Promise<void> {
  const count = await removeFinalizers(cluster, definitions);
  if (count > 0) cluster.say(`finalizers: taken off ${count} ${count === 1 ? 'object' : 'objects'}`);
}

const group = VirtualMachine.apiVersion.split('/')[0];

const definesWorkspaces = ({ metadata }: AnyObject) => metadata.name === `${Workspace.plural}.${group}`;

const definesMachines = ({ metadata }: AnyObject) => metadata.name === `${VirtualMachine.plural}.${group}`;

const definesOnOpenStack = ({ metadata }: AnyObject) => metadata.name.endsWith('.kupenstack.io');

const definesOthers = (definition: AnyObject) =>
  !definesMachines(definition) && !definesWorkspaces(definition) && !definesOnOpenStack(definition);

/**
 * The definitions whose objects are to be deleted beside workspaces: machines first, for an image does not go while one holds
 * it.
 */
const going = (definitions: readonly AnyObject[], { deleteMachines, deleteImages }: UninstallOptions) => [
  ...(deleteMachines ? definitions.filter(definesMachines) : []),
  ...(deleteImages ? definitions.filter(definesOthers) : []),
];

/** Nothing is begun that could not be ended, and nothing goes by the way. */
async function assertCanGo(cluster: Cluster, definitions: readonly AnyObject[], options: UninstallOptions) {
  if (!options.deleteWorkspaces) await assertNoWorkspace(cluster);
  await assertNothingOnOpenStack(cluster, definitions.filter(definesOnOpenStack));
  const kept = definitions.filter((definition) => !going(definitions, options).includes(definition));
  const { machines, others } = await keptOf(cluster, kept);
  const because = options.deleteCrds
    ? { objects: [...machines, ...others], of: 'they would go with the CRDs, and disks and snapshots with them' }
    : { objects: options.deleteImages ? machines : [], of: 'an image does not go while a machine holds it' };
  const [first, ...more] = because.objects;
  if (!first) return;
  const add = [
    ...(machines.length > 0 ? ['--delete-machines'] : []),
    ...(others.length > 0 && options.deleteCrds ? ['--delete-images'] : []),
  ];
  throw new InstallError(
    `expected no object of ours to be left, found ${formatPlace(first)}${more.length > 0 ? ` and ${more.length} more` : ''}: ${because.of}. Nothing was taken down: add ${add.join(' and ')}, or leave out ${options.deleteCrds ? '--delete-crds' : '--delete-images'}.`,
  );
}

/** Without a function nobody would ever take down what stands there, and costs. */
async function assertNothingOnOpenStack({ kube }: Cluster, definitions: readonly AnyObject[]) {
  const kinds = kindsDefinedBy(definitions);
  const [first, ...more] = (await Promise.all(kinds.map((resource) => listOf(kube, resource)))).flat();
  if (!first) return;
  const names = definitions.map(({ metadata }) => metadata.name).join(',');
  throw new InstallError(
    `expected nothing of ours to be left on OpenStack, found ${formatPlace(first)}${more.length > 0 ? ` and ${more.length} more` : ''}: with no function there nobody takes it down. Nothing was taken down: kubectl delete ${names} --all --all-namespaces does it.`,
  );
}

async function keptOf({ kube }: Cluster, definitions: readonly AnyObject[]) {
  const objectsOf = async (some: readonly AnyObject[]) =>
    (await Promise.all(kindsDefinedBy(some).map((resource) => listOf(kube, resource)))).flat();
  return {
    // Those of workspaces have gone with them by then.
    machines: (await objectsOf(definitions.filter(definesMachines))).filter((machine) => !isOfWorkspace(machine)),
    others: await objectsOf(definitions.filter(definesOthers)),
  };
}

/** CDI tries a failing import again for ever, and nobody will be there to end it. */
async function warnOfAttempts({ kube, say }: Cluster): Promise<void> {
  const ofImages = `${labelSelector(managedBy)},${imageUidLabel}`;
  const dataVolumes = await listOf(kube, DataVolume, { labelSelector: ofImages });
  const running = dataVolumes.filter(({ status }) => (status as { phase?: string } | undefined)?.phase !== 'Succeeded');
  if (running.length === 0) return;
  say(
    `${running.length} downloads go on, and nobody ends one that fails: kubectl delete datavolumes -A -l ${imageUidLabel} ends them`,
  );
}

async function reportMachines(cluster: Cluster, definitions: readonly AnyObject[]): Promise<void> {
  const { machines } = await keptOf(cluster, definitions);
  if (machines.length === 0) return;
  const what = machines.length === 1 ? '1 machine stays' : `${machines.length} machines stay`;
  cluster.say(
    `${what}: what KubeVirt runs goes on, nobody looks after it, and it goes with its disk where one is deleted`,
  );
}

async function removeDefinitions(cluster: Cluster, definitions: readonly AnyObject[]): Promise<void> {
  await freeObjects(cluster, definitions);
  await removeAll(cluster, definitions);
}
