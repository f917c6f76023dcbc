import { isDeepStrictEqual } from 'node:util';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { attemptLabel, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { History, Violation } from './history.ts';
import { isCompared, maskedName, maskedState } from './masked.ts';
import { dataVolumeName } from './plain-rules.ts';

/** What came and went under a name that is the same in every run. */
interface Counted {
  created: number;
  deleted: number;
  /** Attempts that ended badly or were overtaken by another revision, each of which may have had a DataVolume more. */
  ended: number;
}

/**
 * L5, differential: against a run without faults of the same declarations, the end is the same and every object came and went as
 * often, uids and times masked. A DataVolume for each attempt that ended badly is accounted for, and goes again (reliability §2,
 * after Sieve).
 */
export const differences = (reference: History, history: History): string[] => [
  ...differentCounts(reference, history, isRetried),
  ...differentEnds(reference, history),
];

/**
 * S16, replay is free: with nothing but events delivered again, every object came and went exactly as often, and the end
 * is the same.
 */
export const replayed = (reference: History, history: History): string[] => [
  ...differentCounts(reference, history, () => false),
  ...differentEnds(reference, history),
];

const isRetried = (name: string) => name.startsWith(`${DataVolume.kind}.`);

function differentCounts(reference: History, history: History, mayBeRetried: (name: string) => boolean): string[] {
  const [wanted, found] = [countsOf(reference), countsOf(history)];
  return [...new Set([...wanted.keys(), ...found.keys()])].flatMap((name) => {
    const [was, is] = [wanted.get(name) ?? none, found.get(name) ?? none];
    const isSame = mayBeRetried(name)
      ? isAccountedFor(was, is)
      : was.created === is.created && was.deleted === is.deleted;
    return isSame ? [] : [`${name}: expected ${say(was)}, found ${say(is)}`];
  });
}

const none: Counted = { created: 0, deleted: 0, ended: 0 };

/** As many were left, and no more were made than attempts ended; one that ended before its DataVolume was made had none. */
const isAccountedFor = (was: Counted, is: Counted) =>
  was.created - was.deleted === is.created - is.deleted &&
  is.created <= was.created + Math.max(0, is.ended - was.ended) &&
  is.created >= Math.min(was.created, Math.max(0, was.created - was.ended));

const say = ({ created, deleted, ended }: Counted) =>
  `${created} created and ${deleted} deleted${ended > 0 ? `, ${ended} attempts ended` : ''}`;

function countsOf({ changes }: History): Map<string, Counted> {
  const counts = new Map<string, Counted>();
  const of = (name: string) => {
    const found = counts.get(name) ?? { ...none };
    counts.set(name, found);
    return found;
  };
  const syncing = new Map<string, VMDiskImage>();
  for (const { type, object } of changes) {
    if (!isCompared(object)) continue;
    if (type === 'ADDED') of(maskedName(object)).created += 1;
    if (type === 'DELETED') of(maskedName(object)).deleted += 1;
    if (object.kind !== VMDiskImage.kind) continue;
    const image = object as VMDiskImage;
    const { uid } = image.metadata;
    const before = syncing.get(uid);
    if (before && (isOver(image) || type === 'DELETED')) of(maskedName(attemptOf(before))).ended += 1;
    if (image.status?.phase === 'Syncing') syncing.set(uid, image);
    else syncing.delete(uid);
  }
  return counts;
}

const isOver = ({ status }: VMDiskImage) =>
  status?.phase === 'Retrying' || status?.phase === 'Failed' || status?.phase === 'Queued';

/** The DataVolume of the attempt, as far as its name goes. */
function attemptOf({ metadata, status }: VMDiskImage): KubernetesObject {
  const { revision = 1, attempt = 1 } = status ?? {};
  const name = dataVolumeName(metadata, String(revision), String(attempt));
  const labels = { [attemptLabel]: String(attempt) };
  return { apiVersion: DataVolume.apiVersion, kind: DataVolume.kind, metadata: { ...metadata, name, labels } };
}

function differentEnds(reference: History, history: History): string[] {
  const [wanted, found] = [endOf(reference), endOf(history)];
  return [...new Set([...wanted.keys(), ...found.keys()])].flatMap((name) => {
    const [was, is] = [wanted.get(name), found.get(name)];
    if (was === undefined || is === undefined)
      return [`${name}: expected ${describeIs(was)} in the end, found ${describeIs(is)}`];
    return isDeepStrictEqual(was, is)
      ? []
      : [`${name}: expected ${JSON.stringify(was)} in the end, found ${JSON.stringify(is)}`];
  });
}

const describeIs = (state: unknown) => (state === undefined ? 'none' : 'one');

function endOf({ before, changes }: History): Map<string, unknown> {
  const last = new Map<string, KubernetesObject>();
  for (const object of before) if (isCompared(object)) last.set(object.metadata.uid, object);
  for (const { type, object } of changes) {
    if (!isCompared(object)) continue;
    if (type === 'DELETED') last.delete(object.metadata.uid);
    else last.set(object.metadata.uid, object);
  }
  return new Map([...last.values()].map((object) => [maskedName(object), maskedState(object)]));
}

/** Names the end of the history as the place of a violation. */
export const violationsAtEnd = (invariant: string, { changes }: History, says: readonly string[]): Violation[] =>
  says.map((one) => ({ invariant, revision: changes.at(-1)?.object.metadata.resourceVersion ?? '', says: one }));
