import type { Action, Facts, Publish } from '../actions.ts';
import { type Phase, transitions, VMDiskImage, type VMDiskImageStatus } from '../kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../kinds/resource.ts';
import { conditionOf, withCondition, withProgress } from '../kubernetes/conditions.ts';
import { recordEvent, redactMessage } from '../kubernetes/events.ts';
import { digestOf } from '../kubernetes/names.ts';
import type { NewCondition } from '../kubernetes/status.ts';
import { toTime } from '../kubernetes/time.ts';
import type { Reason } from '../reasons/reason.ts';
import { diskImageFact, factAttributes } from './facts.ts';
import { redactUrl } from './sources.ts';

/** Fields of an image's status as they are to be; null removes one. */
export type StatusPatch = Readonly<Partial<Record<keyof VMDiskImageStatus, unknown>>>;

/** Writes them, if the image is as it was read. */
export const patchStatus = (of: VMDiskImage, status: StatusPatch): Action => ({
  do: 'patchStatus',
  resource: VMDiskImage,
  of,
  status,
});

const factOf: Partial<Record<Phase, string>> = {
  Queued: 'queued',
  Syncing: 'syncing',
  Retrying: 'retrying',
  Succeeded: 'succeeded',
  Failed: 'failed',
};

export interface Transition {
  to: Phase;
  /** One word, the same in condition, Event and metric. */
  reason: Reason;
  message: string;
  nowMs: number;
  /** What the attempt that begins asks of its source. */
  bytes?: number;
  /** Other fields that this transition's owner writes with it; null removes one. */
  fields?: { [K in keyof VMDiskImageStatus]?: VMDiskImageStatus[K] | null };
}

/** Makes one transition of an image: status first, then the Kubernetes Event and the domain event that tell of it. */
export function transition(
  image: VMDiskImage,
  { to, reason, message: words, nowMs, bytes, fields = {} }: Transition,
): Action[] {
  const message = redactMessage(words);
  const now = toTime(nowMs);
  const before = image.status ?? {};
  const revision = fields.revision ?? before.revision ?? 1;
  const snapshot = fields.snapshot === undefined ? before.snapshot : fields.snapshot;
  const observedGeneration = image.metadata.generation;
  let conditions = withReady(image, { to, snapshot: snapshot ?? undefined, reason, message, nowMs });
  if (to === 'Succeeded' && conditionOf(conditions, 'SnapshotLost')) {
    const found = { type: 'SnapshotLost', status: 'False' as const, reason, message, observedGeneration };
    conditions = withCondition(conditions, found, now);
  }
  const entry = { time: now, fact: to, revision, reason, message, ...(bytes === undefined ? {} : { bytes }) };
  const history = [...(before.history ?? []), entry].slice(-10);
  const status = { ...fields, phase: to, message, conditions, observedGeneration, history };
  return [
    patchStatus(image, status),
    // The history has each step; an Event is a write of its own.
    ...(isOutcome(to) ? [recordEvent(image, to !== 'Succeeded', reason, message, `${revision}/${now}`)] : []),
    ...publishEntry(image, entry),
  ];
}

/** The image after the first write of its status among these actions. */
export function afterwards(image: VMDiskImage, actions: readonly Action[]): VMDiskImage {
  const patch = actions.find((action) => action.do === 'patchStatus')?.status ?? {};
  const status = Object.entries({ ...image.status, ...patch }).filter(([, value]) => value !== null);
  return { ...image, status: Object.fromEntries(status) };
}

const isOutcome = (phase: Phase) => phase === 'Succeeded' || phase === 'Failed' || phase === 'Retrying';

type Entry = NonNullable<VMDiskImageStatus['history']>[number];

/** The domain event of an entry of the history, if its phase has one. An entry of an earlier release lacks some of the data. */
const publishEntry = (image: VMDiskImage, { time, fact: phase, revision, reason, message }: Entry): Publish[] => {
  const fact = factOf[phase as Phase];
  if (fact === undefined || revision === undefined || reason === undefined) return [];
  return [{ ...publish(image, fact, revision, time, { phase, reason, message }), about: image }];
};

/** The facts of an image that this function published, as the image's history has them. */
export const imageFactsBy = (name: string): Facts<VMDiskImage> => ({
  resource: VMDiskImage,
  of: (image) => {
    const history = image.status?.history ?? [];
    return history
      .filter(({ fact }, index) => isTransitionBy(name, history[index - 1]?.fact ?? '', fact))
      .flatMap((entry) => publishEntry(image, entry));
  },
});

const isTransitionBy = (name: string, before: string, after: string) =>
  transitions.some(({ from, to, by }) => from === before && to === after && by === name);

type Why = Pick<Transition, 'reason' | 'message' | 'nowMs'>;

/** Reports why a phase lasts, in message, Ready and an Event. Does nothing if the status reports it already. */
export function reportWhy(image: VMDiskImage, why: Why, type: 'Warning' | 'Normal' = 'Warning'): Action[] {
  const writes = updateWhy(image, why);
  if (writes.length === 0) return [];
  const once = `${image.status?.revision ?? 0}/${toTime(why.nowMs)}`;
  return [...writes, recordEvent(image, type === 'Warning', why.reason, why.message, once)];
}

/** The same without an Event. */
export function updateWhy(image: VMDiskImage, why: Why): Action[] {
  const { message, conditions } = image.status ?? {};
  if (message === redactMessage(why.message) && conditionOf(conditions, 'Ready')?.reason === why.reason) return [];
  const status = { ...explained(image, why), observedGeneration: image.metadata.generation };
  return [patchStatus(image, status)];
}

/** The fields of a status that say why a phase lasts. */
export function explained(image: VMDiskImage, { reason, message: words, nowMs }: Why) {
  const { phase = 'Queued', snapshot } = image.status ?? {};
  const message = redactMessage(words);
  return { message, conditions: withReady(image, { to: phase, snapshot, reason, message, nowMs }) };
}

/** The conditions with Ready as it is in that phase: true as long as the last snapshot is usable. */
function withReady(
  image: VMDiskImage,
  { to, snapshot, reason, message, nowMs }: Why & { to: string; snapshot: VMDiskImageStatus['snapshot'] },
) {
  const now = toTime(nowMs);
  const before = image.status?.conditions;
  const lost = conditionOf(before, 'SnapshotLost')?.status === 'True' && to !== 'Succeeded';
  const ready = snapshot && !lost;
  const readyMessage =
    ready && to !== 'Succeeded' ? `The snapshot of revision ${snapshot.revision} is usable. ${message}` : message;
  const observedGeneration = image.metadata.generation;
  const is = to === 'Failed' ? 'Stalled' : to === 'Succeeded' ? undefined : 'Reconciling';
  return withCondition(
    withProgress(before ?? [], is, { reason, message, observedGeneration }, now),
    { type: 'Ready', status: ready ? 'True' : 'False', reason, message: readyMessage, observedGeneration },
    now,
  );
}

/** Writes those of these conditions that the image does not have yet, and with them these fields, in one write. */
export function reportConditions(
  image: VMDiskImage,
  wanted: readonly NewCondition[],
  nowMs: number,
  fields: Pick<VMDiskImageStatus, 'message'> = {},
): Action[] {
  const { generation: observedGeneration } = image.metadata;
  const before = image.status?.conditions ?? [];
  const news = wanted.filter(({ type, status, reason, message }) => {
    const found = conditionOf(before, type);
    return found?.status !== status || found.reason !== reason || found.message !== redactMessage(message);
  });
  if (news.length === 0) return [];
  const conditions = news.reduce(
    (list, next) => withCondition(list, { ...next, observedGeneration }, toTime(nowMs)),
    before,
  );
  return [patchStatus(image, { ...fields, conditions })];
}

/** A domain event about an image; its id is the same each time it is published. */
export function publish(
  image: VMDiskImage,
  fact: string,
  revision: number,
  time: string,
  data: Record<string, unknown>,
): Publish {
  const { uid, namespace, name } = image.metadata;
  return {
    do: 'publish',
    type: diskImageFact(fact),
    id: digestOf([uid, revision, fact, time]),
    subject: keyOf(image.metadata),
    data: { namespace, name, uid, revision, time, url: redactUrl(image.spec.url), ...data },
    attributes: factAttributes(image),
    trace: { uid, revision },
  };
}
