import { mergePatch } from '../../../deploy/local/api-server/patch.ts';
import followSync from '../../../functions/follow-sync/index.ts';
import type { Action } from '../../../shared/actions.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { attemptLabel, VMDiskImage, type VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { policyName } from '../../../shared/policy.ts';
import { decided } from './reconcile.ts';
import type { AsOf, Recording } from './recording.ts';

/** The result of following one attempt of a scenario. */
export interface Followed {
  /** The state of the image at the end, as `Failed ImportFailed 2`: phase, reason, counted attempts. */
  end: string;
  message: string;
  /** Every message that the status had. */
  said: ReadonlySet<string>;
  /** The messages of which a condition said something else. */
  untold: ReadonlySet<string>;
  /** The number of reconciles with the lists at any two moments, and their decisions that differ from the end of this attempt. */
  reconciles: number;
  others: ReadonlyMap<string, number>;
}

/** From the write that created the attempt's DataVolume to the last write before the recorded functions or a user ended it. */
interface Attempt {
  number: number;
  startedAt: string;
  /** The numbers of the writes after which a reconcile may read: those of DataVolumes, Pods and snapshots. */
  moments: readonly number[];
}

/**
 * Drives the recorded objects through follow-sync. An image of its own replaces the recorded one, which earlier functions wrote.
 * First a reconcile runs after each write. Then a reconcile runs for every pair of moments at which it may list DataVolumes and Pods, with
 * every state that the image had before. If the attempt does not end, time advances while nothing changes, unless the recording
 * of that attempt `isCut`.
 */
export async function follow(
  recording: Recording,
  policy: Readonly<Record<string, string>>,
  isCut: (attempt: number) => boolean,
): Promise<Followed[]> {
  const found: Followed[] = [];
  let counted = 0;
  for (const attempt of attemptsOf(recording)) {
    const image = imageAt(recording, attempt, counted + 1);
    const followed = await followAttempt(recording, attempt, image, { policy, isCut: isCut(attempt.number) });
    found.push(followed.result);
    const { status } = followed.image;
    // If the recorded functions ended an attempt and these do not, the next attempt is the same one for these.
    counted = status?.phase === 'Syncing' ? counted : (status?.attempts ?? 0);
    if (status?.phase === 'Failed' || status?.phase === 'Succeeded') break;
  }
  return found;
}

async function followAttempt(
  recording: Recording,
  attempt: Attempt,
  fresh: VMDiskImage,
  { policy, isCut }: { policy: Readonly<Record<string, string>>; isCut: boolean },
) {
  const reconcile = reconcilerOf(recording, policy);
  const story = await inOrder(reconcile, attempt, fresh);
  const last = attempt.moments.at(-1) ?? 0;
  const since = recording.msAt(last);
  let { image } = story;
  for (const seconds of isCut ? [] : [61, 16 * 60, 5 * 3600]) {
    if (!isUnderWay(image)) break;
    image = (await reconcile(image, last, last, since + seconds * 1000)).image;
    hear(story, image);
  }
  const end = stateOf(image);
  const { reconciles: count, others } = await inAnyOrder(reconcile, recording.pairs(attempt.moments), {
    end,
    ...story,
  });
  return {
    image,
    result: {
      end,
      message: image.status?.message ?? '',
      said: story.said,
      untold: story.untold,
      reconciles: count,
      others,
    },
  };
}

/** A reconcile after each write. `written` has the images that are not finished, each with the moment of its write. */
async function inOrder(reconcile: Reconcile, { moments }: Attempt, fresh: VMDiskImage) {
  const heard = { said: new Set<string>(), untold: new Set<string>() };
  const written = [{ from: 0, image: fresh }];
  let image = fresh;
  for (const moment of moments) {
    const after = (await reconcile(image, moment, moment)).image;
    if (isUnderWay(after) && after.status !== image.status) written.push({ from: moment, image: after });
    image = after;
    hear(heard, image);
  }
  return { image, written, ...heard };
}

interface Heard {
  said: Set<string>;
  untold: Set<string>;
}

/** Who reads conditions reads the same cause: in Ready, after the words about an older snapshot, and in Reconciling or Stalled. */
function hear({ said, untold }: Heard, { status }: VMDiskImage) {
  const { message = '', phase, conditions = [] } = status ?? {};
  said.add(message);
  const types = ['Ready', ...(phase === 'Succeeded' ? [] : [phase === 'Failed' ? 'Stalled' : 'Reconciling'])];
  const told = types.every((type) => conditions.find((one) => one.type === type)?.message.endsWith(message));
  if (message !== '' && !told) untold.add(message);
}

/** Reconciles with the lists at any two moments, for each image written before them: the last reconcile may be long ago. */
async function inAnyOrder(
  reconcile: Reconcile,
  moments: Iterable<readonly [number, number]>,
  { end, written }: { end: string; written: readonly { from: number; image: VMDiskImage }[] },
) {
  const others = new Map<string, number>();
  let count = 0;
  for (const [dataVolumes, pods] of moments) {
    for (const { image } of written.filter(({ from }) => from < dataVolumes)) {
      const { transition } = await reconcile(image, dataVolumes, pods);
      count += 1;
      if (!transition || transition === end || isOnTheWay(transition, end)) continue;
      others.set(transition, (others.get(transition) ?? 0) + 1);
    }
  }
  return { reconciles: count, others };
}

/** A finished download leads to any end except a failed attempt. */
const isOnTheWay = (transition: string, end: string) =>
  transition.startsWith('Snapshotting') && /^(Succeeded|Snapshotting|Failed Snapshot)/.test(end);

const isUnderWay = ({ status }: VMDiskImage) => status?.phase === 'Syncing' || status?.phase === 'Snapshotting';

type Reconcile = ReturnType<typeof reconcilerOf>;

/** A reconcile of follow-sync that lists DataVolumes after one write and Pods and snapshots after another. */
function reconcilerOf(recording: Recording, data: Readonly<Record<string, string>>) {
  const policy = ConfigMap.parse({ metadata: { name: policyName, namespace: operatorNamespace }, data });
  return async (image: VMDiskImage, dataVolumes: number, pods: number, nowMs?: number) => {
    const counts = new Map([
      [DataVolume.kind, dataVolumes],
      [Pod.kind, pods],
      [VolumeSnapshot.kind, pods],
    ]);
    const given = [
      { resource: VMDiskImage, object: image },
      { resource: ConfigMap, object: policy },
    ];
    const asOf: AsOf = ({ kind }) => counts.get(kind) ?? 0;
    const at = nowMs ?? recording.msAt(pods);
    const actions = await decided(followSync, recording, { asOf, given, nowMs: at, batch: { sweep: true } });
    return performed(image, actions);
  };
}

function performed(image: VMDiskImage, actions: readonly Action[]) {
  const writes = actions.filter((action) => action.do === 'patchStatus');
  const status = writes.reduce<unknown>((so, write) => mergePatch(so, write.status), image.status);
  const after: VMDiskImage = { ...image, ...(status ? { status: status as VMDiskImageStatus } : {}) };
  const isMoved = writes.some((write) => 'phase' in write.status);
  return { image: after, transition: isMoved ? stateOf(after) : undefined };
}

function stateOf({ status }: VMDiskImage): string {
  if (status?.phase === 'Syncing' || status?.phase === 'Snapshotting') return status.phase;
  const reason = status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
  return `${status?.phase} ${reason} ${status?.attempts}`;
}

function imageAt(recording: Recording, { number, startedAt }: Attempt, attempts: number): VMDiskImage {
  const recorded = recording.changes.find(({ object }) => object.kind === VMDiskImage.kind);
  const { apiVersion, kind, metadata, spec } = (recorded?.object ?? {}) as Partial<VMDiskImage>;
  const status = { phase: 'Syncing', revision: 1, attempt: number, attempts, startedAt, queuedAt: startedAt };
  return VMDiskImage.parse({ apiVersion, kind, metadata, spec, status });
}

function attemptsOf({ changes }: Recording): Attempt[] {
  const made = changes.flatMap(({ type, object }, index) =>
    object.kind === DataVolume.kind && type === 'ADDED' ? [{ object, index }] : [],
  );
  return made.map(({ object, index }) => {
    const { name, creationTimestamp, labels } = object.metadata;
    const number = Number(labels?.[attemptLabel]);
    const gone = changes.findIndex((change) => change.type === 'DELETED' && change.object.metadata.name === name);
    const ended = changes.findIndex((change, at) => at > index && isEnd(change.object, number));
    // After the recorded functions ended the attempt, they deleted its objects. Before that, a user did.
    const end = ended >= 0 && gone > ended ? gone : ended >= 0 ? ended : changes.length;
    const moments = changes.flatMap(({ object: { kind } }, at) =>
      at >= index && at < end && [DataVolume.kind, Pod.kind, VolumeSnapshot.kind].includes(kind) ? [at + 1] : [],
    );
    return { number, startedAt: creationTimestamp, moments };
  });
}

/** The recorded image reports that this attempt is over, or the image is being deleted. */
function isEnd(
  { kind, metadata, status }: { kind: string; metadata: { deletionTimestamp?: string | undefined }; status?: unknown },
  attempt: number,
) {
  if (kind !== VMDiskImage.kind) return false;
  const said = status as VMDiskImageStatus | undefined;
  const isOver = said?.phase === 'Retrying' || said?.phase === 'Failed' || said?.phase === 'Succeeded';
  return metadata.deletionTimestamp !== undefined || (isOver && said?.attempt === attempt);
}
