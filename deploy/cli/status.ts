import { distinct } from '../../shared/distinct.ts';
import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import type { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { getNamed } from '../../shared/runtime/get-named.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import type { Body, Call, Reached } from './command.ts';
import { namespaceOptions } from './help.ts';
import { completeKindAndName } from './names.ts';
import { readStopped, whatStops } from './queue.ts';
import { codeOf } from './state.ts';
import { type Found, logEntryOf, nothing, treeLines, treeOf } from './status-tree.ts';
import {
  expectNamespace,
  findTarget,
  isOnOpenStack,
  kindIn,
  kindOf,
  kubectlName,
  listEverywhere,
  listIfAny,
  type OnOpenStack,
  type Place,
  readNamed,
  resourceOfKind,
  type TargetKind,
  targetKinds,
} from './target.ts';

/** The state of everything, or of one workspace, machine or image: a tree. */
export const status: Body = {
  words: '[KIND] [NAME]',
  options: namespaceOptions,
  details: [
    'KIND is workspace, machine or image; on OpenStack virtualmachine.kupenstack.io, virtualnetwork or volume, or an',
    'unambiguous prefix. A workspace is shown with its components, a machine with its image or its networks and volumes.',
    'Workspaces have no namespace: without -n all of them are shown.',
    'Exit codes: 0 all Ready or Hibernated · 1 something Failed · 5 nothing Failed, something under way.',
  ],
  examples: ['status -A', 'status -n vmdi-farm', 'status workspace demo-workspace-1', 'status -o yaml'],
  complete: completeKindAndName,
  watches: (namespace) => [...targetKinds.map((kind) => ({ resource: resourceOfKind(kind), namespace })), ...whatStops],
  run: async (call) => {
    const reached = await call.cluster();
    const [found, stopped] = await Promise.all([read(reached, call), readStopped(reached.kube, call.nowMs)]);
    const nodes = treeOf({ ...found, stopped });
    return {
      lines: treeLines(nodes, call.nowMs, call.look, { stopped, namespace: reached.namespace, sought: soughtIn(call) }),
      json: nodes,
      objects: nodes.map((node) => ({ name: kubectlName(node.kind, node.name), ...logEntryOf(node) })),
      code: codeOf(nodes.map(({ state }) => state)),
    };
  },
};

/** The kind that alone is asked for. */
const onlyKind = ({ words: [kind, ...more] }: Call) =>
  kind !== undefined && more.length === 0 ? kindIn(kind, 'or a name') : undefined;

const soughtIn = (call: Call) => {
  const only = onlyKind(call);
  return only && listed[only];
};

async function read(reached: Reached, call: Call): Promise<Found> {
  const { words } = call;
  const { kube } = reached;
  if (words.length === 0) return everything(reached, call);
  const only = onlyKind(call);
  if (only) {
    // A workspace has no namespace that the one of the context could mean.
    const where = only === 'workspace' ? { kube, namespace: call.namespace } : reached;
    const { known, parts, ...found } = await everything(where, call);
    return { ...nothing, known, parts, [listed[only]]: found[listed[only]] };
  }
  const target = await findTarget(reached, readNamed(words, call.namespace));
  if (isOnOpenStack(target)) return ofOpenStack(kube, target);
  if (target.kind === VMDiskImage.kind) return { ...nothing, images: [target as VMDiskImage] };
  if (target.kind === Workspace.kind) return ofWorkspace(kube, target as Workspace);
  const machine = target as VirtualMachine;
  return { ...nothing, machines: [machine], known: await imagesAt(kube, [machine.spec.vmDiskImageRef]) };
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

/** Workspaces, which -n narrows to the one whose machines are in that namespace, and what is in the namespace. */
async function everything({ kube, namespace }: Place, { namespace: only }: Pick<Call, 'namespace'>): Promise<Found> {
  const where = namespace ? { namespace } : {};
  const [all, machines, images, cloud] = await Promise.all([
    listEverywhere<Workspace>(kube, 'workspace'),
    listEverywhere<VirtualMachine>(kube, 'machine', where),
    listEverywhere<VMDiskImage>(kube, 'image', where),
    onOpenStack(kube, where),
  ]);
  const workspaces = all.filter(({ status: { namespace: home } = {} }) => !only || home === only);
  if (namespace && machines.length + images.length === 0) await expectNamespace(kube, namespace);
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
const imagesAt = (kube: Kube, refs: readonly ObjectReference[]) => getNamed(kube, VMDiskImage, distinct(refs, keyOf));
