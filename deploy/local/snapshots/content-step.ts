import { toTime } from '../../../shared/kubernetes/time.ts';
import { annotation } from '../cdi/annotation.ts';
import type { Claim } from '../controller/kinds.ts';
import { bytesOf } from '../controller/quantity.ts';
import { eventsFrom, patchOf, statusOf, type Write, withoutFinalizer } from '../controller/write.ts';
import { finalizer, snapshotAnnotation, VolumeSnapshotContent } from './kinds.ts';

interface ObservedContent {
  content: VolumeSnapshotContent;
  /** The claim whose volume is cut. */
  claim: Claim | undefined;
  /** Since when the driver has been cutting. */
  cuttingSinceMs: number;
  cutMs: number;
  /** Until the copy is complete; never when undefined. */
  readyMs: number | undefined;
  /** The injected error of this attempt. */
  refusedBy: Refusal | undefined;
  nowMs: number;
}

export type Refusal = 'csiError' | 'noCredentials';

/** What comes next about a content; `failure` is tried again with growing pauses, `waitMs` tells when there is more to do. */
interface ContentStep {
  writes: Write[];
  waitMs?: number;
  failure?: string;
}

const done: ContentStep = { writes: [] };

/** The next step of the driver's sidecar: cut the snapshot, see its copy complete, delete it. */
export function nextForContent(observed: ObservedContent): ContentStep {
  const { content, nowMs } = observed;
  if (content.metadata.deletionTimestamp) return removal(content);
  const { readyToUse, creationTime } = content.status ?? {};
  if (readyToUse) return isBeingCreated(content) ? { writes: [beingCreated(content, null)] } : done;
  if (creationTime === undefined) return cutting(observed);
  if (isBeingCreated(content)) return { writes: [beingCreated(content, null)] };
  if (observed.readyMs === undefined) return done;
  const waitMs = creationTime / 1e6 + observed.readyMs - nowMs;
  if (waitMs > 0) return { writes: [], waitMs };
  // Only now an error goes: that the snapshot was cut at last does not clear it.
  return { writes: [statusOf(VolumeSnapshotContent, content, { readyToUse: true, error: null })] };
}

const isBeingCreated = ({ metadata }: VolumeSnapshotContent) =>
  metadata.annotations?.[snapshotAnnotation.beingCreated] !== undefined;

const beingCreated = (content: VolumeSnapshotContent, value: 'yes' | null) =>
  patchOf(VolumeSnapshotContent, content, { metadata: { annotations: { [snapshotAnnotation.beingCreated]: value } } });

function cutting(observed: ObservedContent): ContentStep {
  const { content, cuttingSinceMs, cutMs, refusedBy, nowMs } = observed;
  if (refusedBy === 'noCredentials') return refusal(observed, withoutCredentials(content));
  if (!isBeingCreated(content)) return { writes: [beingCreated(content, 'yes')] };
  if (refusedBy) return refusal(observed, tooOften(content));
  const waitMs = cuttingSinceMs + cutMs - nowMs;
  return waitMs > 0 ? { writes: [], waitMs } : cut(observed);
}

const tooOften = ({ spec }: VolumeSnapshotContent) =>
  `failed to take snapshot of the volume ${spec.source.volumeHandle}: "rpc error: code = ResourceExhausted desc = SnapshotCreationPerVolumeRateExceeded: The maximum per volume CreateSnapshot request rate has been exceeded."`;

const withoutCredentials = ({ metadata: { name } }: VolumeSnapshotContent) =>
  `failed to get input parameters to create snapshot for content ${name}: "cannot get credentials for snapshot content \\"${name}\\""`;

function refusal({ content, nowMs }: ObservedContent, cause: string): ContentStep {
  const [message, reason] = content.status
    ? [`Failed to check and update snapshot content: ${cause}`, 'SnapshotContentCheckandUpdateFailed']
    : [`Failed to create snapshot: ${cause}`, 'SnapshotCreationFailed'];
  const status = statusOf(VolumeSnapshotContent, content, {
    readyToUse: false,
    error: { message, time: toTime(nowMs) },
  });
  const event = eventsFrom('csi-snapshotter ebs.csi.aws.com')(content, 'Warning', reason, message);
  return { writes: content.status?.error?.message === message ? [] : [status, event], failure: message };
}

function cut({ content, claim, nowMs, readyMs }: ObservedContent): ContentStep {
  const { annotations = {} } = claim?.metadata ?? {};
  const imported =
    `${annotations[annotation.podPhase] ?? ''} ${annotations[annotation.populatorProgress] ?? ''}`.trim();
  const size = claim?.status?.capacity?.storage;
  return {
    writes: [
      patchOf(VolumeSnapshotContent, content, {
        metadata: { annotations: { [snapshotAnnotation.importWhenCut]: imported } },
      }),
      statusOf(VolumeSnapshotContent, content, {
        snapshotHandle: `snap-${content.metadata.uid.replaceAll('-', '').slice(0, 17)}`,
        // A driver that copies nothing reports both at once.
        readyToUse: readyMs === 0,
        creationTime: nowMs * 1e6,
        ...(size === undefined ? {} : { restoreSize: bytesOf(size) }),
      }),
    ],
  };
}

/** A content is deleted once its VolumeSnapshot is being deleted; a content that is deleted directly waits for that. */
function removal(content: VolumeSnapshotContent): ContentStep {
  const isReleased = content.metadata.annotations?.[snapshotAnnotation.beingDeleted] !== undefined;
  if (!isReleased || isBeingCreated(content) || !content.metadata.finalizers?.includes(finalizer.content)) return done;
  const gone = { snapshotHandle: null, readyToUse: null, creationTime: null, restoreSize: null };
  const clears = content.spec.deletionPolicy === 'Delete' && content.status?.snapshotHandle !== undefined;
  if (clears) return { writes: [statusOf(VolumeSnapshotContent, content, gone)] };
  return { writes: [withoutFinalizer(VolumeSnapshotContent, content, finalizer.content)] };
}
