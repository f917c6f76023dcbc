import { downloadShareOf, type Estimate, estimateOf, rateOf } from '../../shared/images/download-share.ts';
import { budgetLeft, egressIn } from '../../shared/images/egress.ts';
import { type Basis, endOf, type Held, heldSlots } from '../../shared/images/forecast.ts';
import { dueAtMs, isKept, workspaceImageDueAtMs } from '../../shared/images/pruning.ts';
import { holdersOf } from '../../shared/images/slots.ts';
import type { Lease } from '../../shared/kinds/coordination/lease.ts';
import type { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ContainerCluster, Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { messageOf, phaseOf } from '../../shared/kubernetes/shown.ts';
import { describeFault, type Policy, parsePolicy } from '../../shared/policy.ts';
import { policyEntries, strayEntries } from '../../shared/policy-entries.ts';
import { type KubernetesEvent, timeOf } from '../cli/kubernetes-event.ts';
import { queueOf } from '../cli/queue-view.ts';
import { causeOf, stateOf } from '../cli/state.ts';
import { withStop } from '../cli/status-tree.ts';
import type { Target } from '../cli/target.ts';
import { pastSyncsOf } from './past-syncs.ts';
import { type Among, causeAt, componentAt } from './trouble.ts';
import type {
  ClusterRow,
  ImageRow,
  MachineRow,
  Member,
  PrunedRow,
  Rows,
  ServerRow,
  SlotRow,
  View,
  WorkspaceRow,
} from './view.ts';

/** What the rows are made of. */
export interface Input {
  nowMs: number;
  images: ReadonlyMap<string, VMDiskImage>;
  machines: ReadonlyMap<string, VirtualMachine>;
  servers: ReadonlyMap<string, KupenStackMachine>;
  workspaces: ReadonlyMap<string, Workspace>;
  configMap: Pick<ConfigMap, 'data'> | undefined;
  lease: Lease | undefined;
  events: readonly KubernetesEvent[];
}

/** What the page shows of these objects. */
export function viewOf(input: Input): View {
  const among = amongOf(input);
  return {
    cluster: { cluster: clusterRow(input, among) },
    images: imageRows(input, among),
    machines: mapped(input.machines, (machine) => machineRow(machine, among)),
    servers: mapped(input.servers, (server) => serverRow(server, among)),
    workspaces: mapped(input.workspaces, (workspace) => workspaceRow(workspace, among)),
    pruned: prunedRows(input),
  };
}

/** What causes are looked for among. */
export function amongOf({ images, machines, configMap, lease, nowMs }: Input): Among {
  const policy = parsePolicy(configMap);
  return { images, machines, policy, nowMs, queue: queueOf({ images: [...images.values()], lease, policy }, nowMs) };
}

const mapped = <T, R>(objects: ReadonlyMap<string, T>, row: (object: T) => R): Rows<R> =>
  Object.fromEntries([...objects].map(([key, object]) => [key, row(object)]));

/** Slots, queue, policy and costs. */
function clusterRow({ images, configMap, lease, nowMs }: Input, { policy, queue }: Among): ClusterRow {
  const { concurrency, egressPricePerGiB, egressBudget } = policy.values;
  const { basis, stopped, waiting } = queue;
  const rows = policyRows(configMap, policy);
  const egress = egressIn(lease);
  const left = budgetLeft(policy, egress, nowMs);
  // Before the first download there is no Lease.
  const holders = lease ? holdersOf(lease) : [];
  return {
    slots: {
      total: concurrency,
      held: holders && heldSlots(holders, [...images.values()], nowMs).map((slot) => slotRow(slot, basis, nowMs)),
    },
    queue: waiting.map(({ image }) => image),
    policy: rows,
    faults: rows.filter(({ fault }) => fault).length,
    basis: basis ? { downloads: basis.count, medianMs: basis.medianMs } : undefined,
    stopped: stopped ?? undefined,
    egress,
    pricePerGiB: egressPricePerGiB,
    budget: egressBudget && left !== undefined ? { ...egressBudget, left } : undefined,
  };
}

const slotRow = (slot: Held, basis: Basis | null, nowMs: number): SlotRow => ({
  image: slot.holder.image,
  attempt: slot.holder.attempt,
  since: slot.holder.since,
  endsAtMs: basis ? roundedUp(endOf(slot, basis, nowMs), nowMs) : undefined,
});

function imageRows({ images, nowMs }: Input, among: Among): Rows<ImageRow> {
  const rate = rateOf([...images.values()]);
  const places = new Map(among.queue.waiting.map((one) => [one.image, one]));
  return mapped(images, (image) => {
    const { place, startsAt = null } = places.get(keyOf(image.metadata)) ?? {};
    const startsAtMs = startsAt === null ? undefined : roundedUp(Date.parse(startsAt), nowMs);
    return { ...imageRow(image, among), place, startsAtMs, estimate: roundedEstimate(estimateOf(image, rate)) };
  });
}

/** A forecast that moved with every look would be told to every page each time. */
const stepMs = 15_000;

const roundedUp = (startsAtMs: number, nowMs: number) =>
  startsAtMs <= nowMs ? 0 : Math.ceil(startsAtMs / stepMs) * stepMs;

const roundedEstimate = (estimate: Estimate | undefined) =>
  estimate && { fromMs: estimate.fromMs, toMs: Math.ceil(estimate.toMs / stepMs) * stepMs };

function imageRow(image: VMDiskImage, among: Among): Omit<ImageRow, 'place' | 'startsAtMs' | 'estimate'> {
  const { metadata, status } = image;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ...stated(withStop(image, among.queue.stopped ?? undefined), among),
    share: downloadShareOf(image),
    isReady: conditionOf(status?.conditions, 'Ready')?.status === 'True',
    bytes: status?.source?.bytes,
    syncs: pastSyncsOf(image),
    revision: status?.revision ?? 0,
    attempts: status?.attempts ?? 0,
    queuedAt: status?.queuedAt,
    usedBy: status?.references?.count ?? 0,
    users: status?.references?.by ?? [],
    isKept: isKept(image),
    dueAtMs: prunedAtMs(image, among.policy),
    createdAt: metadata.creationTimestamp,
  };
}

/** When prune deletes it, if nothing changes. */
function prunedAtMs(image: VMDiskImage, policy: Policy): number | undefined {
  const byPolicy = policy.values.prune === 'WhenUnreferenced' ? dueAtMs(image, policy) : undefined;
  const due = [byPolicy, workspaceImageDueAtMs(image, policy)].filter((ms) => ms !== undefined);
  return due.length > 0 ? Math.min(...due) : undefined;
}

const policyRows = (configMap: Input['configMap'], policy: Policy): ClusterRow['policy'] => [
  ...policyEntries(configMap, policy).map((entry) => ({ ...entry, fault: entry.fault && describeFault(entry.fault) })),
  ...strayEntries(configMap).map((entry) => ({
    ...entry,
    isSet: true,
    fault: `${entry.key}: no key of the policy is called so`,
  })),
];

/** As `ot-functions status` shows it. */
const stated = (target: Target, among: Among) => ({
  phase: phaseOf(target),
  state: stateOf(target),
  message: causeOf(target) || (messageOf(target) ?? ''),
  cause: causeAt(target, among),
});

const machineRow = (machine: VirtualMachine, among: Among): MachineRow => ({
  namespace: machine.metadata.namespace ?? '',
  name: machine.metadata.name,
  ...stated(machine, among),
  image: keyOf(machine.spec.vmDiskImageRef),
  ipAddress: machine.status?.ipAddress ?? '',
  node: machine.status?.nodeName ?? '',
  createdAt: machine.metadata.creationTimestamp,
});

const serverRow = (server: KupenStackMachine, among: Among): ServerRow => ({
  namespace: server.metadata.namespace ?? '',
  name: server.metadata.name,
  ...stated(server, among),
  networks: server.status?.ip || server.spec.virtualNetworks.join(', '),
  volumes: server.spec.diskAttachments.map(({ name }) => name),
  node: server.status?.node ?? '',
  restarts: server.status?.restartCount ?? 0,
  createdAt: server.metadata.creationTimestamp,
});

const workspaceRow = (workspace: Workspace, among: Among): WorkspaceRow => ({
  name: workspace.metadata.name,
  ...stated(workspace, among),
  ready: workspace.status?.ready ?? '',
  components: (workspace.status?.components ?? []).map((one) => ({
    ...one,
    at: componentAt(one.kind, one.name, workspace),
  })),
  networks: (workspace.spec.networks ?? []).map(({ name, cidr }) => ({ name, cidr })),
  members: [
    ...(workspace.spec.vms ?? []).map((one) => memberOf('VirtualMachine', one)),
    ...(workspace.spec.containerClusters ?? []).map((one) => memberOf('ContainerCluster', one)),
  ],
  createdAt: workspace.metadata.creationTimestamp,
});

const memberOf = (
  kind: Member['kind'],
  { name, interfaces = [] }: Pick<ContainerCluster, 'name' | 'interfaces'>,
): Member => ({
  kind,
  name,
  interfaces: interfaces.map(({ network, ipAddress = '' }) => ({ network, address: ipAddress })),
});

/** What prune said of images that it deleted; not of one that a machine came to use meanwhile, and which is held. */
function prunedRows({ events, images }: Pick<Input, 'events' | 'images'>): Rows<PrunedRow> {
  const uids = new Set([...images.values()].map(({ metadata }) => metadata.uid));
  return Object.fromEntries(
    events
      .filter(({ reason, involvedObject }) => reason === 'Pruned' && involvedObject?.kind === 'VMDiskImage')
      .filter(({ involvedObject }) => !uids.has(involvedObject?.uid ?? ''))
      .map((event) => [
        event.metadata.uid,
        {
          namespace: event.involvedObject?.namespace ?? '',
          name: event.involvedObject?.name ?? '',
          time: timeOf(event),
          why: event.message ?? '',
        },
      ]),
  );
}
