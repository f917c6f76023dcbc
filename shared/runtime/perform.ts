import type { Action } from '../actions.ts';
import { type Subject, subjectOf } from '../function.ts';
import { type KubernetesObject, type ObjectReference, type Resource, referenceOf } from '../kinds/resource.ts';
import { isOwnedBy } from '../kubernetes/ownership.ts';
import { type Refusal, refusalKey } from '../kubernetes/refusal.ts';
import { callKey } from '../openstack/call-key.ts';
import { limitConcurrency } from './concurrency.ts';
import { ApiError, Conflict, hasStatus, isRefusal } from './errors.ts';
import type { Kube } from './kube.ts';
import { type Clouds, isFault } from './openstack/clouds.ts';
import { OpenStackError } from './openstack/open-stack-error.ts';
import { Unreachable } from './openstack/session.ts';
import type { ActionTelemetry } from './telemetry/action-telemetry.ts';

/**
 * Nothing is written because of what was read longer ago than this: it is out of date, and for a write that no resourceVersion guards
 * (creation, server-side apply) nothing else would notice.
 */
export const longestUseMs = 30_000;

/** The limit of actions of a decision that are performed at once. */
const writesAtOnce = 16;

/** What the actions of a reconcile are performed with. */
export interface Effects {
  /** The function's name: field manager of its writes, source of its Events. */
  name: string;
  kube: Kube;
  now(): number;
  /** When the reading began that the actions were decided by. */
  readMs: number;
  /** The OpenStacks that were observed; undefined if none were. */
  clouds: Clouds | undefined;
  telemetry: ActionTelemetry;
  /** Runs the function for the object after that time, unless the process ends before. */
  requeueAfter(about: Subject, afterMs: number): void;
}

/** The result of performing a decision, beside success. */
export interface Outcome {
  /** Objects the API server refuses for what they are, and what OpenStack refuses. */
  refusals: Map<string, Refusal>;
  /** Why the Broker is to deliver the same event again. */
  redeliver?: string;
  /** Objects to observe again in this reconcile. */
  requeued: Subject[];
  /** Events to record, facts to publish, points to measure: about what was written, and off the critical path. */
  notifications: Notification[];
}

export type Notification = Extract<Action, { do: 'recordEvent' | 'publish' | 'measure' }>;

/**
 * Performs the actions in order, but for those of a stage that are begun at once, each once, and keeps the notifications that belong to those
 * that were done. A failed action ends its group, and everything without a group that follows. Writes to an object that was written before carry the resourceVersion of that write,
 * so that a rival's write in between is still noticed. Throws Conflict if another writer was first, else what a retry may mend.
 */
export async function perform(effects: Effects, actions: readonly Action[], outcome: Outcome): Promise<void> {
  const written: Written = { versions: new Map(), created: new Map() };
  const failed = new Set<number | undefined>();
  const errors: unknown[] = [];
  const performUnlessFailed = async (action: Action) => {
    const { group } = action;
    if (failed.has(undefined) || failed.has(group) || (group === undefined && failed.size > 0)) return;
    try {
      if (isRequest(action) && effects.now() - effects.readMs > longestUseMs)
        throw new Conflict('what was read is too old to act upon');
      const refused = await effects.telemetry.span(action, () => performOne(effects, action, written, outcome));
      if (!refused) return;
      outcome.refusals.set(...refused);
    } catch (error) {
      errors.push(error);
    }
    failed.add(group);
  };
  const limited = limitConcurrency(writesAtOnce);
  let atOnce: Promise<void>[] = [];
  for (const action of actions) {
    if (action.atOnce) {
      atOnce.push(limited(() => performUnlessFailed(action)));
      continue;
    }
    await Promise.all(atOnce);
    atOnce = [];
    await performUnlessFailed(action);
  }
  await Promise.all(atOnce);
  if (errors.length > 0) throw errors.find((error) => error instanceof Conflict) ?? errors[0];
}

const isRequest = (action: Action) => 'resource' in action || action.do === 'call';

/** What this reconcile has written so far. */
interface Written {
  /** The resourceVersion of an object after that write, by uid. */
  versions: Map<string, string>;
  /** The uid of an object that did not exist before, by `refusalKey`. */
  created: Map<string, string>;
}

/** What guards a write: the object as it was read, or as this reconcile left it. */
const asRead = ({ versions }: Written, { uid, resourceVersion }: { uid: string; resourceVersion: string }) => ({
  uid,
  resourceVersion: versions.get(uid) ?? resourceVersion,
});

const wrote = ({ versions }: Written, { metadata }: KubernetesObject) =>
  void versions.set(metadata.uid, metadata.resourceVersion);

type Refused = readonly [key: string, refusal: Refusal];

/** One action. What was refused is returned, to be decided about. */
async function performOne(
  effects: Effects,
  action: Action,
  written: Written,
  outcome: Outcome,
): Promise<Refused | undefined> {
  switch (action.do) {
    case 'create':
      return create(effects, action, written);
    case 'replace':
      return replace(effects, action, written);
    case 'patchMetadata':
    case 'patchStatus':
      return patch(effects, action, written);
    case 'apply':
      return apply(effects, action, written);
    case 'delete':
      return remove(effects, action, written);
    case 'call':
      return call(effects, action, outcome);
    case 'recordEvent':
    case 'publish':
    case 'measure':
      outcome.notifications.push(action);
      break;
    case 'requeue':
      outcome.requeued.push(subjectOf(action.about));
      break;
    case 'requeueAfter':
      effects.requeueAfter(subjectOf(action.about), action.afterMs);
      break;
    case 'redeliver':
      outcome.redeliver = action.because;
  }
  return undefined;
}

/**
 * One request to OpenStack. Its effect is observed by the next reconcile, even if no answer came: it may have been done nevertheless, and is
 * never simply repeated. An OpenStack that did not answer gets no further request.
 */
async function call(
  { clouds, requeueAfter }: Effects,
  { of, request }: Action & { do: 'call' },
  outcome: Outcome,
): Promise<Refused | undefined> {
  if (outcome.redeliver !== undefined) return undefined;
  const cloud = await clouds?.of(of.metadata.namespace ?? '');
  if (!cloud || isFault(cloud)) throw new Conflict(cloud?.message ?? 'no OpenStack was observed');
  try {
    await cloud.send(request);
    if (request.showsAfterMs === undefined) outcome.requeued.push(subjectOf(of));
    else requeueAfter(subjectOf(of), request.showsAfterMs);
    return undefined;
  } catch (error) {
    if (!(error instanceof OpenStackError) && !(error instanceof Unreachable)) throw error;
    const refusal = error instanceof OpenStackError ? error.refusal : undefined;
    if (refusal === undefined) outcome.redeliver = error.message;
    return [callKey(of, request), { reason: refusal ?? 'Unavailable', message: error.message }];
  }
}

const describeError = (error: unknown) =>
  error instanceof ApiError ? `${error.reason || error.status}: ${error.message}` : String(error);

/** The API server's message about a refused object, in full: the function that wrote the object knows what of it may be repeated. */
const refusedAs = (
  resource: Resource,
  of: ObjectReference,
  { reason, status, serverMessage }: ApiError,
  askedBy?: string,
): Refused => [refusalKey(resource, of, askedBy), { reason: reason || String(status), message: serverMessage }];

/** 409, and 404 of the object itself: what was observed is out of date. */
async function orConflict<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (hasStatus(error, 409) || hasStatus(error, 404)) throw new Conflict(describeError(error));
    throw error;
  }
}

async function create(
  { kube, name, telemetry }: Effects,
  { resource, object, owner, askedBy }: Action & { do: 'create' },
  { created }: Written,
): Promise<Refused | undefined> {
  try {
    const made = await kube.create(resource, object, name);
    telemetry.made(made);
    created.set(refusalKey(resource, object.metadata), made.metadata.uid);
    return undefined;
  } catch (error) {
    if (isRefusal(error)) return refusedAs(resource, object.metadata, error, askedBy);
    if (hasStatus(error, 404)) throw new Conflict(describeError(error));
    if (!hasStatus(error, 409)) throw error;
    const found = owner === undefined ? undefined : await kube.get(resource, object.metadata);
    if (!found || !owner) throw new Conflict(describeError(error));
    if (isMadeFor(owner, found)) return undefined;
    const message = `${resource.kind} ${object.metadata.name} belongs to another owner`;
    return [refusalKey(resource, object.metadata), { reason: 'NameTaken', message }];
  }
}

/** By an owner reference, or by a label if the garbage collector would follow an owner reference too soon. */
const isMadeFor = (owner: string, object: KubernetesObject) =>
  isOwnedBy(owner, object) || Object.values(object.metadata.labels ?? {}).includes(owner);

/** Only as it was read. The refusal of what has an owner is reported at that owner. */
async function replace(
  { kube, name }: Effects,
  { resource, object, owner }: Action & { do: 'replace' },
  written: Written,
): Promise<Refused | undefined> {
  const metadata = { ...object.metadata, ...asRead(written, object.metadata) };
  try {
    const next = { ...object, metadata } as unknown as KubernetesObject;
    return wrote(written, await orConflict(kube.replace(resource, next, name)));
  } catch (error) {
    if (owner === undefined || !isRefusal(error)) throw error;
    return refusedAs(resource, metadata, error);
  }
}

/** A merge patch of the object as it was read, or of its status. */
async function patch(
  { kube, name }: Effects,
  action: Action & { do: 'patchMetadata' | 'patchStatus' },
  written: Written,
): Promise<undefined> {
  const metadata = asRead(written, action.of.metadata);
  const isStatus = action.do === 'patchStatus';
  const body = isStatus
    ? { metadata, status: withUid(action, written) }
    : { metadata: { ...action.metadata, ...metadata } };
  const options = { fieldManager: name, ...(isStatus ? ({ subresource: 'status' } as const) : {}) };
  return wrote(written, await orConflict(kube.patch(action.resource, referenceOf(action.of), body, options)));
}

/** The status with the uid of an object that was created before, if it is to be recorded. */
function withUid({ status, record }: Action & { do: 'patchStatus' }, { created }: Written) {
  const uid = record && created.get(refusalKey(record.created.resource, record.created.metadata));
  if (!uid) return status;
  const [field, name] = record.uidAt;
  return { ...status, [field]: { ...(status[field] as object), [name]: uid } };
}

async function apply(
  { kube, name, telemetry }: Effects,
  { object, resource, subresource, force }: Action & { do: 'apply' },
  written: Written,
): Promise<Refused | undefined> {
  const options = { fieldManager: name, ...(subresource ? { subresource } : {}), ...(force ? { force } : {}) };
  try {
    const applied = await kube.apply(resource, object, options);
    if (!subresource) telemetry.made(applied);
    wrote(written, applied);
    return undefined;
  } catch (error) {
    // 404: the namespace does not exist, and the same apply would not create it.
    if (isRefusal(error) || hasStatus(error, 409) || hasStatus(error, 404))
      return refusedAs(resource, object.metadata, error);
    throw error;
  }
}

/** That very object, with `unchanged` only as it was read. */
async function remove(
  { kube }: Effects,
  { resource, of, unchanged }: Action & { do: 'delete' },
  written: Written,
): Promise<undefined> {
  const { uid, resourceVersion } = asRead(written, of.metadata);
  await orConflict(kube.delete(resource, referenceOf(of), unchanged ? { uid, resourceVersion } : { uid }));
}
