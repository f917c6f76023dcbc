import { chunk } from '../../shared/chunk.ts';
import { distinct } from '../../shared/distinct.ts';
import {
  type Batch,
  type Context,
  type Subject,
  subjectNamed,
  subjectsOf,
  type Unreadable,
} from '../../shared/function.ts';
import { imagesOfFacts } from '../../shared/images/facts.ts';
import { inspectionOf } from '../../shared/images/inspection.ts';
import { byPlace, isQueued, placeOf } from '../../shared/images/queue.ts';
import { refreshed } from '../../shared/images/refresh.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import {
  type KubernetesObject,
  keyOf,
  type ObjectReference,
  type Resource,
  referenceOf,
} from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';
import { mapConcurrently } from '../../shared/runtime/concurrency.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { orUnreadable, partition } from '../../shared/runtime/unreadable.ts';
import { reinspectAfterMs } from './decide.ts';
import { inspect } from './inspect.ts';
import type { Observed } from './observed.ts';
import { isOtherObject } from './refresh.ts';
import { isRefreshDue } from './refresh-due.ts';

/** The sources that a reconcile looks at, and how many of them at once; the others are left to the next. */
const perReconcile = 32;
const atOnce = 16;

/** Looks at the source of each image that waits in the queue for its inspection. */
export async function gather(context: Context, batch: Batch): Promise<(Observed | Unreadable)[]> {
  const { kube, nowMs } = context;
  const named = distinct([...imagesOfFacts(batch), ...subjectsOf(batch, VMDiskImage)], keyOf);
  // The others are not even read: a crowd that is queued at once would be read again by each reconcile.
  const [now, unread] = [named.slice(0, perReconcile), named.slice(perReconcile)];
  const isOff = ({ values }: Policy) => values.inspectTimeout === 0;
  if (batch.sweep && isOff(await readPolicy(kube))) return [];
  // The sweep is for all that wait.
  const found = batch.sweep
    ? await kube.list(VMDiskImage, { fieldSelector: 'status.phase=Queued' })
    : await Promise.all(now.map((ref) => orUnreadable(ref, kube.get(VMDiskImage, ref))));
  // After the images: a verdict is final, and an image that is created after an edit of the policy is judged by the edit.
  const policy = await readPolicy(kube);
  if (isOff(policy)) return [];
  const { read, unreadable } = partition<VMDiskImage>(found);
  const due = read
    .filter((image) => inspectionDueMs(image, nowMs) <= nowMs)
    .sort((a, b) => byPlace(placeOf(a), placeOf(b)));
  const rest = batch.sweep ? due.slice(perReconcile).map(referenceOf) : unread;
  const later = rest.map((ref): Observed => ({ postponed: { namespace: ref.namespace, name: ref.name }, afterMs: 0 }));
  const once = { ...context, kube: { ...kube, get: readOnce(kube) } };
  const queued = due.slice(0, perReconcile);
  const observed = await mapConcurrently(queued, atOnce, (image) => observe(once, image, policy));
  // An audit may name an image that was queued since.
  const inspected = new Set(queued.map(({ metadata }) => keyOf(metadata)));
  const audited = (batch.audited ?? []).filter((ref) => !inspected.has(keyOf(ref)));
  return [...observed, ...later, ...(await refreshes(once, audited, policy)), ...unreadable];
}

/** Most images name the same Secret: a reconcile reads it once. */
function readOnce(kube: Context['kube']): Context['kube']['get'] {
  const reads = new Map<string, Promise<unknown>>();
  return <T extends KubernetesObject>(resource: Resource<T>, ref: ObjectReference) => {
    const key = `${resource.kind} ${keyOf(ref)}`;
    const read = reads.get(key) ?? kube.get(resource, ref);
    reads.set(key, read);
    return read as Promise<T | undefined>;
  };
}

/** Names the images whose `spec.refresh` asks for another inspection. */
export async function* audit({ kube, nowMs }: Pick<Context, 'kube' | 'nowMs'>): AsyncGenerator<Subject[]> {
  for await (const { items } of kube.pages(VMDiskImage, { fieldSelector: refreshed }))
    yield* chunk(
      items.filter((image) => dueOrInvalid(image, nowMs)).map((image) => subjectNamed(VMDiskImage, image.metadata)),
      perReconcile,
    );
}

/** Also due if `spec.refresh` does not parse, so that the image says why. */
function dueOrInvalid(image: VMDiskImage, nowMs: number): true | { invalid: string } | undefined {
  try {
    return isRefreshDue(image, nowMs) || undefined;
  } catch (error) {
    return { invalid: error instanceof Error ? error.message : String(error) };
  }
}

/** Inspects the sources again that an audit named. */
async function refreshes(
  context: Context,
  audited: readonly Subject[],
  policy: Policy,
): Promise<(Observed | Unreadable)[]> {
  const { kube, nowMs } = context;
  const named = await Promise.all(audited.map((ref) => orUnreadable(ref, kube.get(VMDiskImage, ref))));
  const { read: images, unreadable } = partition(named);
  const looked = await mapConcurrently(images, atOnce, async (image): Promise<Observed | Unreadable | undefined> => {
    const due = dueOrInvalid(image, nowMs);
    if (due !== true) return due && { refreshed: image, nowMs, inspection: due };
    const inspection = await orUnreadable(image.metadata, inspect(context, image, policy));
    if ('unreadable' in inspection || !isOtherObject(image, inspection))
      return 'unreadable' in inspection ? inspection : { refreshed: image, nowMs, inspection };
    const again = await orUnreadable(image.metadata, inspect(context, image, policy));
    return 'unreadable' in again ? again : { refreshed: image, nowMs, inspection, again };
  });
  return [...looked.filter((one) => one !== undefined), ...unreadable];
}

/** When the source of an image is to be inspected; never if it waits for none. */
function inspectionDueMs(image: VMDiskImage, nowMs: number): number {
  if (!isQueued(image)) return Number.POSITIVE_INFINITY;
  const found = inspectionOf(image);
  if (!found) return nowMs;
  if (found.reason !== 'SourceUnreachable') return Number.POSITIVE_INFINITY;
  const lookedMs = Date.parse(image.status?.source?.inspectedAt ?? '') || 0;
  // A timer may be early, and the time in the status has no milliseconds.
  return lookedMs + reinspectAfterMs(image, lookedMs) - 1000;
}

async function observe(context: Context, image: VMDiskImage, policy: Policy): Promise<Observed | Unreadable> {
  const { nowMs } = context;
  const inspection = await orUnreadable(image.metadata, inspect(context, image, policy));
  if ('unreadable' in inspection) return inspection;
  return { nowMs, image, inspection, policy };
}
