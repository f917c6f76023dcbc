import type { Condition } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace, type WorkspaceCondition, type WorkspacePhase } from '../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { templateOf } from './machines.ts';
import { until, untilGone, type World } from './world.ts';

export type Spec = Workspace['spec'];
type Machine = NonNullable<Spec['vms']>[number];
type Cluster = NonNullable<Spec['containerClusters']>[number];
type Where = Pick<World, 'kube'>;

/** The image that stories run in containers, and deploy roles by: on a real cluster that of test/cluster/workload-container.mjs. */
export const workloadImage = process.env.OT_WORKLOAD_IMAGE ?? 'example.com/workload:1';

/** The policy of stories with workspaces: images are made, and looked for, in the story's own namespace. */
export const policyOf = { imageNamespaces: 'lab', workspaceImagesKeptFor: '0s' };

/** The network of stories that need one. */
export const controlNet = { name: 'control-net', cidr: '10.10.0.0/24' };

/** To be on that network, with a fixed address or any. */
export const onControlNet = (ipAddress?: string) => [{ network: controlNet.name, ...(ipAddress ? { ipAddress } : {}) }];

/** A machine of a workspace, on the image of that name and its template. */
export const aMachine = (
  world: Pick<World, 'store'>,
  name: string,
  image: string,
  more: Partial<Machine> = {},
): Machine => ({
  name,
  backingVMDiskImage: image,
  vmDiskImageTemplate: templateOf(world, image),
  resources: { cpu: '1', memory: '512Mi' },
  ...more,
});

/** A container cluster of one container that does nothing. */
export const aCluster = (name: string, more: Partial<Cluster> = {}): Cluster => ({
  name,
  containers: [{ name: 'main', image: workloadImage, resources: { cpu: '10m', memory: '64Mi' } }],
  ...more,
});

/** A lab of one machine and one container cluster on that network. */
export const aLab = (world: Pick<World, 'store'>): Spec => ({
  networks: [controlNet],
  vms: [aMachine(world, 'vm', 'base', { interfaces: onControlNet('10.10.0.161/24') })],
  containerClusters: [aCluster('app', { interfaces: onControlNet('10.10.0.141/24') })],
});

/** Creates a workspace like an admin would. */
export const createWorkspace = ({ kube }: Where, name: string, spec: Spec, metadata: object = {}) =>
  kube.create(Workspace, {
    apiVersion: Workspace.apiVersion,
    kind: Workspace.kind,
    metadata: { name, ...metadata },
    spec,
  });

/** Changes lists of the spec as a whole, as `kubectl apply` of a changed manifest does. */
export const changeWorkspace = ({ kube }: Where, name: string, spec: Partial<Spec>) =>
  kube.patch(Workspace, { name }, { spec });

/** Resolves when the workspace has that phase for the spec that is wanted now. */
export async function untilWorkspace(
  { kube }: Where,
  name: string,
  phase: WorkspacePhase,
  withinMs?: number,
): Promise<Workspace> {
  const isThere = (workspace: Workspace | undefined) =>
    workspace?.status?.phase === phase && workspace.status.observedGeneration === workspace.metadata.generation;
  return (await until({ kube }, Workspace, { name }, isThere, withinMs)) as Workspace;
}

/** Creates a workspace and resolves when it is Ready. */
export async function readyWorkspace(world: Where, name: string, spec: Spec, withinMs?: number): Promise<Workspace> {
  await createWorkspace(world, name, spec);
  return untilWorkspace(world, name, 'Ready', withinMs);
}

/** Resolves with the workspace as soon as that condition has that reason. */
export async function untilCondition(
  { kube }: Where,
  name: string,
  type: WorkspaceCondition,
  reason: string,
  withinMs?: number,
): Promise<Workspace> {
  const isSo = (workspace: Workspace | undefined) => conditionIn(workspace, type)?.reason === reason;
  return (await until({ kube }, Workspace, { name }, isSo, withinMs)) as Workspace;
}

/** Resolves with the workspace as soon as the component is in that phase; where a reason is given, for that reason. */
export async function untilComponent(
  { kube }: Where,
  name: string,
  [kind, component]: readonly [string, string],
  phase: string,
  reason?: string,
): Promise<Workspace> {
  const isSo = (workspace: Workspace | undefined) => {
    const found = componentOf(workspace, kind, component);
    return found?.phase === phase && (reason === undefined || found.reason === reason);
  };
  return (await until({ kube }, Workspace, { name }, isSo)) as Workspace;
}

/** Resolves with the workspace as soon as the component says one of these reasons. */
export async function untilTrouble(
  { kube }: Where,
  name: string,
  [kind, component]: readonly [string, string],
  reasons: readonly string[],
): Promise<Workspace> {
  const isSo = (workspace: Workspace | undefined) =>
    reasons.includes(componentOf(workspace, kind, component)?.reason ?? '');
  return (await until({ kube }, Workspace, { name }, isSo)) as Workspace;
}

/** Resolves with the workspace as soon as its message holds that word. */
export async function untilSaid({ kube }: Where, name: string, word: string): Promise<Workspace> {
  const isSo = (workspace: Workspace | undefined) => workspace?.status?.message?.includes(word) === true;
  return (await until({ kube }, Workspace, { name }, isSo)) as Workspace;
}

export const componentOf = (workspace: Workspace | undefined, kind: string, name: string) =>
  workspace?.status?.components?.find((component) => component.kind === kind && component.name === name);

export const conditionIn = (workspace: Workspace | undefined, type: WorkspaceCondition): Condition | undefined =>
  conditionOf(workspace?.status?.conditions, type);

/** Deletes the workspace and waits until it, and all it was made of, is gone. */
export async function deleteWorkspace(world: Where, name: string): Promise<void> {
  await world.kube.delete(Workspace, { name });
  await untilGone(world, Workspace, { name });
}

/** Deletes a child and resolves with its successor. */
export async function comesBack<T extends KubernetesObject>(
  { kube }: Where,
  resource: Resource<T>,
  ref: { namespace?: string; name: string },
): Promise<T> {
  const before = await kube.get(resource, ref);
  if (!before) throw new Error(`expected ${resource.kind} ${ref.name} to be there, found none`);
  await kube.delete(resource, ref);
  const isAnother = (found: T | undefined) => found !== undefined && found.metadata.uid !== before.metadata.uid;
  return (await until({ kube }, resource, ref, isAnother)) as T;
}
