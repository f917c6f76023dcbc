import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Workspace, type WorkspaceCondition, type WorkspacePhase } from '../../shared/kinds/pelotech/workspace.ts';
import type { Condition } from '../../shared/kinds/schema.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { templateOf } from './machines.ts';
import { type ByName, byName, type Story, until, untilGone, type World } from './world.ts';

export type Spec = Workspace['spec'];
type Machine = NonNullable<Spec['vms']>[number];
type Cluster = NonNullable<Spec['containerClusters']>[number];
type Container = Cluster['containers'][number];
type Where = Pick<World, 'kube'>;

/** The image that stories run in containers, and deploy roles by: on a real cluster that of test/cluster/workload-container.mjs. */
export const workloadImage = process.env.OT_WORKLOAD_IMAGE ?? 'example.com/workload:1';

/** The namespace of workspace `lab1`, which most stories create. */
export const labNamespace = 'ws-lab1';

/** An object of that workspace. */
export const inLab = (name: string) => ({ namespace: labNamespace, name });

/** The image that most workspaces boot from. */
export const baseImage = ({ namespace }: Pick<World, 'namespace'>) => ({ namespace, name: 'base' });

/** The policy of stories with workspaces: images are made, and looked for, in the story's own namespace. */
export const policyOf = { imageNamespaces: 'lab', workspaceImagesKeptFor: '0s' };

/** Stories with that policy; workspace `lab1`, if it remains, is deleted at their end. */
export const workspaceStories = (stories: ByName<Story>): readonly Story[] =>
  byName<Story>(stories).map((story) => ({
    ...story,
    policy: { ...policyOf, ...story.policy },
    run: async (world) => {
      await story.run(world);
      await deleteWorkspace(world, 'lab1');
    },
  }));

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

/** A container cluster of one container, which does nothing if `container` does not say more. */
export const aCluster = (name: string, more: Partial<Cluster> = {}, container: Partial<Container> = {}): Cluster => ({
  name,
  containers: [{ name: 'main', image: workloadImage, resources: { cpu: '10m', memory: '64Mi' }, ...container }],
  ...more,
});

/** A container that listens, for which its cluster has a Service. */
export const listening: Partial<Container> = { portMappings: [{ containerPort: 53, protocol: 'udp' }] };

/** A lab of one machine and one container cluster on that network. */
export const aLab = (world: Pick<World, 'store'>): Spec => ({
  networks: [controlNet],
  vms: [aMachine(world, 'vm', 'base', { interfaces: onControlNet('10.10.0.161/24') })],
  containerClusters: [aCluster('app', { interfaces: onControlNet('10.10.0.141/24') })],
});

/** Creates a workspace like an admin would. */
export const createWorkspace = ({ kube }: Where, name: string, spec: Spec) =>
  kube.create(Workspace, {
    apiVersion: Workspace.apiVersion,
    kind: Workspace.kind,
    metadata: { name },
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

/** Deletes the workspace and waits until it is gone, which has to be after its Namespace. */
export async function deleteWorkspace(world: Where, name: string): Promise<void> {
  await world.kube.delete(Workspace, { name });
  await untilGone(world, Workspace, { name });
  const namespace = `ws-${name}`;
  if (await world.kube.get(Namespace, { name: namespace }))
    throw new Error(`expected Namespace ${namespace} to be gone with its workspace, found it`);
}
