import { isDeepStrictEqual } from 'node:util';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { attemptLabel, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { History, Violation } from './history.ts';
import { isCompared, maskedName, maskedState } from './masked.ts';
import { dataVolumeName } from './plain-rules.ts';

/** How often a name that is the same in every run was created and deleted. */
interface Counted {
  created: number;
  deleted: number;
  /** Attempts that failed or were replaced by another revision: each may have had one more DataVolume. */
  ended: number;
}

/**
 * L5, differential: two runs of the same declarations, one of them without faults, end in the same state, and create and delete every
 * object equally often (uids and times masked). An attempt that failed may have one more DataVolume, which must be deleted again.
 */
export const differences = (reference: History, history: History): string[] => [
  ...differentCounts(reference, history, isRetried),
  ...differentEnds(reference, history),
];

/**
 * S16, free replay: if the runs differ only in events that were delivered again, they create and delete every object exactly as
 * often, and end in the same state.
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
    return isSame ? [] : [`${name}: expected ${formatCount(was)}, found ${formatCount(is)}`];
  });
}

const none: Counted = { created: 0, deleted: 0, ended: 0 };

/**
 * The same number remains, and each additional one belongs to an attempt that ended. An attempt that ended before its DataVolume
 * was created has none.
 */
const isAccountedFor = (was: Counted, is: Counted) =>
  was.created - was.deleted === is.created - is.deleted &&
  is.created <= was.created + Math.max(0, is.ended - was.ended) &&
  is.created >= Math.min(was.created, Math.max(0, was.created - was.ended));

const formatCount = ({ created, deleted, ended }: Counted) =>
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

/** The DataVolume of the attempt, as far as its name is concerned. */
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

export const violationsAtEnd = (invariant: string, { changes }: History, messages: readonly string[]): Violation[] =>
  messages.map((message) => ({ invariant, revision: changes.at(-1)?.object.metadata.resourceVersion ?? '', message }));
