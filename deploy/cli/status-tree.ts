import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import type { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Component, Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf, nameOf } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { phaseOf } from '../../shared/kubernetes/shown.ts';
import { oneLine } from '../../shared/sentence.ts';
import { heldNamespace } from '../../shared/workspaces/images.ts';
import { type Look, type Span, styled } from '../terminal/paint.ts';
import { phaseSpan, type ShownPhase } from '../terminal/phase-style.ts';
import { tableLines } from '../terminal/table.ts';
import { formatAge } from './age.ts';
import { partsOf } from './server-parts.ts';
import { byUrgency, causeOf, isAtRest, type State, stateOf, stateOfPhase, states } from './state.ts';
import { describeStopped, type Stopped } from './stopped.ts';
import { formatKind, type OnOpenStack, type Target } from './target.ts';

/** An object or a component of one, its state, and its cause. */
interface Node {
  kind: string;
  namespace?: string;
  name: string;
  phase: ShownPhase;
  state: State;
  since?: string;
  /** Since when it has Failed, or more is to come. */
  troubledSince?: string;
  /** Why it is not Ready, or is left out, in its own words; empty if it is Ready. */
  cause: string;
  children: Node[];
}

/** The objects that were read from the cluster. */
export interface Found {
  workspaces: readonly Workspace[];
  machines: readonly VirtualMachine[];
  images: readonly VMDiskImage[];
  /** Images that are shown below others. */
  known: readonly VMDiskImage[];
  servers: readonly KupenStackMachine[];
  networks: readonly VirtualNetwork[];
  volumes: readonly Volume[];
  /** Networks and volumes on OpenStack that are shown below machines. */
  parts: readonly OnOpenStack[];
  /** Why no download starts. */
  stopped?: Stopped | undefined;
}

export const nothing: Found = {
  workspaces: [],
  machines: [],
  images: [],
  known: [],
  servers: [],
  networks: [],
  volumes: [],
  parts: [],
};

/**
 * Failed objects, then objects under way, then Ready ones; of each, workspaces with their components, machines with their images, images,
 * then machines on OpenStack with their networks and volumes, and networks and volumes.
 */
export function treeOf(found: Found): Node[] {
  const { workspaces, machines, servers, networks, volumes, parts, stopped } = found;
  const images = found.images.map((image) => withStop(image, stopped));
  const known = found.known.map((image) => withStop(image, stopped));
  const imageAt = new Map(known.map((image) => [keyOf(image.metadata), image]));
  const workspaceNamespaces = new Set(workspaces.map(({ status }) => status?.namespace));
  const free = machines.filter(({ metadata }) => !workspaceNamespaces.has(metadata.namespace));
  return [
    ...byName(workspaces.map((workspace) => workspaceNode(workspace, machines, imageAt))),
    ...byName(free.map((machine) => machineNode(machine, imageAt))),
    ...byName(images.map((image) => nodeOf(image))),
    ...byName(servers.map((server) => serverNode(server, parts))),
    ...byName([...networks, ...volumes].map((part) => nodeOf(part))),
  ].sort(byUrgency);
}

/** An image in the queue also waits for whatever stops the queue; its own message mentions that with the next sweep. */
export function withStop(image: VMDiskImage, stopped: Stopped | undefined): VMDiskImage {
  if (!stopped || image.status?.phase !== 'Queued' || image.metadata.deletionTimestamp) return image;
  if (image.status.message?.includes(stopped.why)) return image;
  const message = `${image.status.message ?? ''} Nothing starts: ${stopped.why}.`.trim();
  return { ...image, status: { ...image.status, message } };
}

type Images = ReadonlyMap<string, VMDiskImage>;

const byName = (nodes: readonly Node[]) =>
  [...nodes].sort((a, b) => (a.namespace ?? '').localeCompare(b.namespace ?? '') || a.name.localeCompare(b.name));

const nodeOf = (target: Target, children: Node[] = []): Node => ({
  kind: formatKind(target),
  ...(target.metadata.namespace ? { namespace: target.metadata.namespace } : {}),
  name: target.metadata.name,
  phase: phaseOf(target),
  state: stateOf(target),
  since: target.metadata.creationTimestamp,
  ...troubledSince(target),
  cause: causeOf(target),
  children,
});

function troubledSince({ status }: Target): Pick<Node, 'troubledSince'> {
  const [found] = ['Stalled', 'Reconciling'].flatMap((type) => conditionOf(status?.conditions, type) ?? []);
  return found ? { troubledSince: found.lastTransitionTime } : {};
}

function machineNode(machine: VirtualMachine, images: Images): Node {
  const image = images.get(keyOf(machine.spec.vmDiskImageRef));
  return nodeOf(machine, image ? [nodeOf(image)] : []);
}

const serverNode = (server: KupenStackMachine, parts: readonly OnOpenStack[]): Node =>
  nodeOf(
    server,
    partsOf(server, parts).map((part) => nodeOf(part)),
  );

/** Components in the order of the workspace's status, which is the order of its stages; an image is shown under its machine. */
function workspaceNode(workspace: Workspace, machines: readonly VirtualMachine[], images: Images): Node {
  const components = workspace.status?.components ?? [];
  const imageOfMachine = new Map((workspace.spec.vms ?? []).map((vm) => [vm.name, vm.backingVMDiskImage]));
  const nodes = components.map((component) => {
    const machine =
      component.kind === 'VirtualMachine'
        ? machines.find(
            ({ metadata }) => metadata.name === component.name && metadata.namespace === workspace.status?.namespace,
          )
        : undefined;
    const imageName = component.kind === 'VirtualMachine' ? imageOfMachine.get(component.name) : undefined;
    const below = imageName === undefined ? [] : [imageBelow(workspace, imageName, components, images)];
    return partNode(component, machine, below);
  });
  const shown = new Set(nodes.flatMap(({ children }) => children.map(({ name }) => name)));
  const parts = nodes.filter(({ kind, name }) => kind !== 'VMDiskImage' || !shown.has(name));
  return nodeOf(workspace, parts.sort(byUrgency));
}

const partNode = ({ kind, name, phase, message }: Component, target: Target | undefined, children: Node[]): Node => ({
  kind,
  name,
  phase,
  state: stateOfPhase(phase),
  ...(target ? { since: target.metadata.creationTimestamp } : {}),
  cause: stateOfPhase(phase) === 'Ready' && phase !== 'Skipped' ? '' : message,
  children,
});

function imageBelow(workspace: Workspace, name: string, components: readonly Component[], images: Images): Node {
  const namespace = heldNamespace(workspace, name);
  const image = namespace === undefined ? undefined : images.get(keyOf({ namespace, name }));
  if (image) return nodeOf(image);
  const part = components.find((component) => component.kind === 'VMDiskImage' && component.name === name);
  return part
    ? partNode(part, undefined, [])
    : { kind: 'VMDiskImage', name, phase: 'Waiting', state: 'under way', cause: '', children: [] };
}

/** The first cause in time: of a Failed object, else of an object under way. A workspace reports its own; the cause of a machine may be its image. */
function firstCauseIn(nodes: readonly Node[]): Node | undefined {
  const [worst] = nodes
    .filter(({ state }) => !isAtRest(state))
    .sort((a, b) => byUrgency(a, b) || (a.troubledSince ?? '').localeCompare(b.troubledSince ?? ''));
  return !worst || worst.kind === 'Workspace' ? worst : (firstCauseIn(worst.children) ?? worst);
}

/** The tree as a table, an image that was shown below another object not again; above it the first cause and what stops the queue. */
export function treeLines(
  nodes: readonly Node[],
  nowMs: number,
  look: Look,
  {
    stopped,
    namespace,
    sought = 'workspaces, machines or images',
  }: { stopped?: Stopped | undefined; namespace?: string | undefined; sought?: string | undefined },
): string[] {
  if (nodes.length === 0) {
    const where = namespace ? `in namespace ${namespace}; -A looks in all namespaces` : 'here';
    return [`There are no ${sought} ${where}.`, ...(stopped ? [describeStopped(stopped)] : [])];
  }
  const first = firstCauseIn(nodes);
  const columns = ['NAME', 'PHASE', 'AGE', 'CAUSE'].map((title) => ({ title }));
  const shown = new Set<string>();
  const rows = nodes.flatMap((node) =>
    node.kind === 'VMDiskImage' && shown.has(nameOf(node, node))
      ? []
      : rowsOf(node, '', '', (one) => rowOf(one, nowMs, shown)),
  );
  const table = tableLines(columns, rows, look);
  const summary = first ? [`${summaryOf(nodes)} First cause: ${nameOf(first, first)}: ${causeText(first)}`] : [];
  const isInSummary = stopped && first && causeText(first).includes(stopped.why);
  const stop = isInSummary ? `What would help: ${stopped.command}` : stopped && describeStopped(stopped);
  const above = [...summary, ...(stop ? [stop] : [])];
  return above.length > 0 ? [...above, '', ...table] : [...table];
}

export const logEntryOf = (node: Node) => ({
  about: nameOf(node, node),
  says: [node.phase || 'New', ...(node.cause ? [causeText(node)] : [])].join(': '),
});

/** The cause on one line, even if a message contains line breaks. */
const causeText = ({ cause, phase }: Node) => oneLine(cause || phase);

function summaryOf(nodes: readonly Node[]): string {
  const counts = states.map((word) => ({ word, count: nodes.filter(({ state }) => state === word).length }));
  return `${counts
    .filter(({ count }) => count > 0)
    .map(({ word, count }) => `${count} ${word}`)
    .join(', ')}.`;
}

/** Each cause once: in full in the first row of the object that it comes from. `shown` learns the names and causes that have a row. */
function rowOf(node: Node, nowMs: number, shown: Set<string>): Span[] {
  const { phase, since, cause } = node;
  const line = `${nameOf(node, node)}: ${cause}`;
  const origin = originOf(node);
  // A component has no namespace: another workspace may have one of the same name.
  const isShown = cause !== '' && node.namespace !== undefined && shown.has(line);
  shown.add(line).add(nameOf(node, node));
  const text = isShown ? 'as above' : origin ? `same cause as ${nameOf(origin, origin)}` : cause;
  return [phaseSpan(phase), formatAge(since, nowMs), styled('dim', text)];
}

/** The lowest object below this one whose cause ends the cause of this one. */
function originOf({ cause, children }: Node): Node | undefined {
  for (const child of children) {
    const origin = originOf({ ...child, cause }) ?? child;
    if (origin.cause !== '' && cause.endsWith(origin.cause)) return origin;
  }
  return undefined;
}

function rowsOf(node: Node, lead: string, below: string, cells: (node: Node) => Span[]): Span[][] {
  const row = [`${lead}${nameOf(node, node)}`, ...cells(node)];
  const children = node.children.flatMap((child, index) => {
    const isLast = index === node.children.length - 1;
    return rowsOf(child, `${below}${isLast ? '└─ ' : '├─ '}`, `${below}${isLast ? '   ' : '│  '}`, cells);
  });
  return [row, ...children];
}
