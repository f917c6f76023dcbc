import { downloadShareOf, type Estimate, estimateOf, rateOf } from '../../shared/images/download-share.ts';
import { basisOf, heldSlots, startsOf } from '../../shared/images/forecast.ts';
import { dueAtMs, isKept, orphanDueAtMs } from '../../shared/images/pruning.ts';
import { byPlace, grantFault, isQueued, placeOf } from '../../shared/images/queue.ts';
import type { Holder } from '../../shared/images/slots.ts';
import type { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { type KubernetesObject, keyOf } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { messageOf, phaseOf } from '../../shared/kubernetes/shown.ts';
import { describeFault, type Policy } from '../../shared/policy.ts';
import { policyEntries, strayEntries } from '../../shared/policy-entries.ts';
import type { ClusterRow, ImageRow, MachineRow, PrunedRow, Rows, ServerRow, WorkspaceRow } from './view.ts';

/** What the rows are made of. */
interface Seen {
  nowMs: number;
  images: readonly VMDiskImage[];
  configMap: Pick<ConfigMap, 'data'> | undefined;
  policy: Policy;
  /** undefined where the Lease says nothing that can be read. */
  holders: readonly Holder[] | undefined;
}

const keyed = <T extends KubernetesObject, R>(objects: readonly T[], row: (object: T) => R): Rows<R> =>
  Object.fromEntries(objects.map((object) => [keyOf(object.metadata), row(object)]));

/** Slots, queue and policy, and every image with its place. */
export function imageRows(seen: Seen): { cluster: ClusterRow; images: Rows<ImageRow> } {
  const holding = new Set(seen.holders?.map(({ uid }) => uid));
  const queue = seen.images
    .filter((image) => isQueued(image) && !holding.has(image.metadata.uid))
    .sort((a, b) => byPlace(placeOf(a), placeOf(b)));
  const total = seen.policy.values.concurrency;
  const rate = rateOf(seen.images);
  const held = heldSlots(seen.holders ?? [], seen.images, seen.nowMs);
  const basis = basisOf(seen.images);
  const starts = mayStart(seen) ? startsOf(queue, held, seen.policy.values, basis, seen.nowMs) : [];
  const rows = policyRows(seen);
  const places = new Map(queue.map(({ metadata }, index) => [metadata.uid, index]));
  return {
    cluster: {
      slots: {
        total,
        held: seen.holders?.map(({ image, attempt, since }) => ({ image, attempt, since })),
      },
      queue: queue.map(({ metadata }) => keyOf(metadata)),
      policy: rows,
      faults: rows.filter(({ fault }) => fault).length,
      basis: basis && { downloads: basis.count, medianMs: basis.medianMs },
    },
    images: keyed(seen.images, (image) => {
      const index = places.get(image.metadata.uid);
      return imageRow(
        image,
        seen.policy,
        index,
        index === undefined ? undefined : roundedUp(starts[index], seen.nowMs),
        estimateOf(image, rate),
      );
    }),
  };
}

/** Whether images may start: `start-sync` assigns no slot while it cannot parse the policy or the Lease. */
const mayStart = ({ policy, holders }: Seen) => holders !== undefined && !grantFault(policy);

/** A forecast that moved with every look would be told to every page each time. */
const stepMs = 15_000;

const roundedUp = (startsAtMs: number | undefined, nowMs: number) =>
  startsAtMs === undefined ? undefined : startsAtMs <= nowMs ? 0 : Math.ceil(startsAtMs / stepMs) * stepMs;

function imageRow(
  image: VMDiskImage,
  policy: Policy,
  index: number | undefined,
  startsAtMs: number | undefined,
  estimate: Estimate | undefined,
): ImageRow {
  const { metadata, status } = image;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    phase: phaseOf(image),
    share: downloadShareOf(image),
    estimate: estimate && { fromMs: estimate.fromMs, toMs: Math.ceil(estimate.toMs / stepMs) * stepMs },
    isReady: conditionOf(status?.conditions, 'Ready')?.status === 'True',
    message: messageOf(image) ?? '',
    revision: status?.revision ?? 0,
    attempts: status?.attempts ?? 0,
    queuedAt: status?.queuedAt,
    place: index === undefined ? undefined : index + 1,
    startsAtMs,
    usedBy: status?.references?.count ?? 0,
    users: status?.references?.by ?? [],
    isKept: isKept(image),
    dueAtMs: prunedAtMs(image, policy),
    createdAt: metadata.creationTimestamp,
  };
}

/** When prune deletes it, if nothing changes. */
function prunedAtMs(image: VMDiskImage, policy: Policy): number | undefined {
  const byPolicy = policy.values.prune === 'WhenUnreferenced' ? dueAtMs(image, policy) : undefined;
  const due = [byPolicy, orphanDueAtMs(image, policy)].filter((ms) => ms !== undefined);
  return due.length > 0 ? Math.min(...due) : undefined;
}

const policyRows = ({ configMap, policy }: Seen): ClusterRow['policy'] => [
  ...policyEntries(configMap, policy).map((entry) => ({ ...entry, fault: entry.fault && describeFault(entry.fault) })),
  ...strayEntries(configMap).map((entry) => ({
    ...entry,
    isSet: true,
    fault: `${entry.key}: no key of the policy is called so`,
  })),
];

const shownOf = (object: Parameters<typeof messageOf>[0]) => ({
  phase: phaseOf(object),
  message: messageOf(object) ?? '',
});

export const machineRows = (machines: readonly VirtualMachine[]): Rows<MachineRow> =>
  keyed(machines, ({ metadata, spec, status }) => ({
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ...shownOf({ metadata, status }),
    image: keyOf(spec.vmDiskImageRef),
    ipAddress: status?.ipAddress ?? '',
    node: status?.nodeName ?? '',
    createdAt: metadata.creationTimestamp,
  }));

export const serverRows = (machines: readonly KupenStackMachine[]): Rows<ServerRow> =>
  keyed(machines, ({ metadata, spec, status }) => ({
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ...shownOf({ metadata, status }),
    networks: status?.ip || spec.virtualNetworks.join(', '),
    volumes: spec.diskAttachments.map(({ name }) => name),
    node: status?.node ?? '',
    restarts: status?.restartCount ?? 0,
    createdAt: metadata.creationTimestamp,
  }));

export const workspaceRows = (workspaces: readonly Workspace[]): Rows<WorkspaceRow> =>
  keyed(workspaces, ({ metadata, status }) => ({
    name: metadata.name,
    ...shownOf({ metadata, status }),
    ready: status?.ready ?? '',
    components: status?.components ?? [],
    createdAt: metadata.creationTimestamp,
  }));

/** A Kubernetes Event as far as anything here reads it. */
export interface EventSeen {
  metadata: { uid: string; creationTimestamp: string };
  type?: string;
  reason?: string;
  message?: string;
  involvedObject?: { apiVersion?: string; kind?: string; namespace?: string; name?: string };
  lastTimestamp?: string | null;
  eventTime?: string | null;
}

export const timeOf = ({ lastTimestamp, eventTime, metadata }: EventSeen) =>
  lastTimestamp ?? eventTime ?? metadata.creationTimestamp;

/** What prune said of images that it deleted. */
export const prunedRows = (events: readonly EventSeen[]): Rows<PrunedRow> =>
  Object.fromEntries(
    events
      .filter(({ reason, involvedObject }) => reason === 'Pruned' && involvedObject?.kind === 'VMDiskImage')
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
