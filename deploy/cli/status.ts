import { distinct } from '../../shared/distinct.ts';
import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import type { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { UsageError } from '../terminal/arguments.ts';
import type { Body, Call } from './command.ts';
import { namespaceOption } from './help.ts';
import { codeOf } from './state.ts';
import { type Found, nothing, treeLines, treeOf } from './status-tree.ts';
import { type Stopped, stoppedByPolicy } from './stopped.ts';
import {
  findTarget,
  isOnOpenStack,
  kindIn,
  kindOf,
  listEverywhere,
  listIfAny,
  type OnOpenStack,
  readNamed,
  type TargetKind,
  targetKinds,
} from './target.ts';

/** The state of everything, or of one workspace, machine or image: a tree. */
export const status: Body = {
  words: '[KIND] [NAME]',
  options: {
    ...namespaceOption,
    all: { type: 'boolean', short: 'A', about: 'all namespaces; also the default without --namespace' },
  },
  details: [
    'KIND is workspace, machine or image; on OpenStack virtualmachine.kupenstack.io, virtualnetwork or volume, or an',
    'unambiguous prefix. A workspace is shown with its components, a machine with its image or its networks and volumes.',
    'Exit codes: 0 all Ready · 1 something Failed · 5 nothing Failed, not all Ready.',
  ],
  examples: ['status', 'status -n vmdi-farm', 'status workspace demo-workspace-1', 'status --json'],
  completions: targetKinds,
  run: async (call) => {
    if (call.namespace && call.is('all')) throw new UsageError('expected --namespace or --all, found both');
    const { kube } = await call.cluster();
    const [found, stopped] = await Promise.all([read(kube, call), readStopped(kube)]);
    const nodes = treeOf({ ...found, stopped });
    return {
      lines: treeLines(nodes, call.nowMs, call.look, stopped),
      json: nodes,
      code: codeOf(nodes.map(({ state }) => state)),
    };
  },
};

async function read(kube: Kube, { words, namespace }: Call): Promise<Found> {
  const [kind] = words;
  if (kind === undefined) return everything(kube, namespace);
  const only = words.length === 1 ? kindIn(kind, 'or a name') : undefined;
  if (only) {
    const { known, parts, ...found } = await everything(kube, namespace);
    return { ...nothing, known, parts, [listed[only]]: found[listed[only]] };
  }
  const target = await findTarget(kube, readNamed(words, namespace));
  if (isOnOpenStack(target)) return ofOpenStack(kube, target);
  if (target.kind === VMDiskImage.kind) return { ...nothing, images: [target as VMDiskImage] };
  if (target.kind === Workspace.kind) return ofWorkspace(kube, target as Workspace);
  const machine = target as VirtualMachine;
  return { ...nothing, machines: [machine], known: await imagesAt(kube, [machine.spec.vmDiskImageRef]) };
}

/** What stops the queue; undefined if the user may not read the policy. */
async function readStopped(kube: Kube): Promise<Stopped | undefined> {
  try {
    return stoppedByPolicy(await readPolicy(kube));
  } catch (error) {
    if (hasStatus(error, 403)) return undefined;
    throw error;
  }
}

/** The field of the tree for each kind. */
const listed = {
  workspace: 'workspaces',
  machine: 'machines',
  image: 'images',
  'virtualmachine.kupenstack.io': 'servers',
  virtualnetwork: 'networks',
  volume: 'volumes',
} as const satisfies Record<TargetKind, keyof Found>;

async function ofOpenStack(kube: Kube, target: OnOpenStack): Promise<Found> {
  const found = { ...nothing, [listed[kindOf(target)]]: [target] };
  if (target.kind !== 'VirtualMachine') return found;
  const { networks, volumes } = await onOpenStack(kube, { namespace: target.metadata.namespace ?? '' });
  return { ...found, parts: [...networks, ...volumes] };
}

async function onOpenStack(kube: Kube, where: { namespace?: string }) {
  const [servers, networks, volumes] = await Promise.all([
    listIfAny<KupenStackMachine>(kube, 'virtualmachine.kupenstack.io', where),
    listIfAny<VirtualNetwork>(kube, 'virtualnetwork', where),
    listIfAny<Volume>(kube, 'volume', where),
  ]);
  return { servers, networks, volumes };
}

async function ofWorkspace(kube: Kube, workspace: Workspace): Promise<Found> {
  const { namespace, images = [] } = workspace.status ?? {};
  const machines = namespace ? await listEverywhere<VirtualMachine>(kube, 'machine', { namespace }) : [];
  return { ...nothing, workspaces: [workspace], machines, known: await imagesAt(kube, images) };
}

async function everything(kube: Kube, namespace: string | undefined): Promise<Found> {
  const where = namespace ? { namespace } : {};
  const [all, machines, images, cloud] = await Promise.all([
    listEverywhere<Workspace>(kube, 'workspace'),
    listEverywhere<VirtualMachine>(kube, 'machine', where),
    listEverywhere<VMDiskImage>(kube, 'image', where),
    onOpenStack(kube, where),
  ]);
  const workspaces = all.filter(({ status: { namespace: home } = {} }) => !namespace || home === namespace);
  const there = new Set(images.map(({ metadata }) => keyOf(metadata)));
  const named = [
    ...machines.map(({ spec }) => spec.vmDiskImageRef),
    ...workspaces.flatMap(({ status: { images: held = [] } = {} }) => held),
  ];
  const elsewhere = namespace ? named.filter((ref) => !there.has(keyOf(ref))) : [];
  const known = [...images, ...(await imagesAt(kube, elsewhere))];
  return { workspaces, machines, images, known, ...cloud, parts: [...cloud.networks, ...cloud.volumes] };
}

/** The existing images among these, each once. */
async function imagesAt(kube: Kube, refs: readonly ObjectReference[]): Promise<VMDiskImage[]> {
  const different = distinct(refs, keyOf);
  const found = await Promise.all(different.map((ref) => kube.get(VMDiskImage, ref)));
  return found.filter((image) => image !== undefined);
}
