import type { Action } from '../../../shared/actions.ts';
import { patchStatus, reportConditions } from '../../../shared/images/status.ts';
import { useRevision as annotation } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf, withCondition } from '../../../shared/kubernetes/conditions.ts';
import { recordEvent } from '../../../shared/kubernetes/events.ts';
import { isNotSo } from '../../../shared/kubernetes/status.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Observed } from '../observed.ts';
import { isLostInUse } from '../snapshot/snapshot.ts';
import { publishReady, withLost } from '../status.ts';
import { heldBy, isPinned, type Revision, revisionsOf, snapshotOf, usableRevisions } from './revisions.ts';

/**
 * Makes new machines clone from the revision that the image's annotation names, and from the newest again once the annotation is
 * removed: a way back from a bad publication without a download. Does nothing if the status is up to date.
 */
export function useRevision(observed: Observed): Action[] {
  const { metadata, status } = observed.image;
  if (!status?.phase) return [];
  const asked = metadata.annotations?.[annotation]?.trim();
  if (asked === undefined) return released(observed);
  const found = usableRevisions(observed).find(({ revision }) => String(revision) === asked);
  if (!found) return notKept(observed, asked);
  return isPinned(observed) && status.snapshot?.revision === found.revision ? [] : use(observed, found, true);
}

/** Uses the newest, even if its snapshot is lost: the loss is then reported, and the image is downloaded again if it is in use. */
function released(observed: Observed): Action[] {
  if (!conditionOf(observed.image.status?.conditions, 'RevisionPinned')) return [];
  const [newest] = revisionsOf(observed);
  return newest ? use(observed, newest, false) : [];
}

function use(observed: Observed, of: Revision, isPin: boolean): Action[] {
  const { image, nowMs } = observed;
  const { revision, snapshot: name } = of;
  const found = snapshotOf(observed, of);
  const now = toTime(nowMs);
  const message = isPin
    ? `Revision ${revision} is used, as annotation ${annotation} says: machines are cloned from snapshot ${name}.`
    : `Revision ${revision}, the newest, is used again: machines are cloned from snapshot ${name}.`;
  const reason = isPin ? 'RevisionPinned' : 'NewestUsed';
  const isLost = !found || isLostInUse(found);
  const others = withLost(image, isLost, message, nowMs).filter(({ type }) => type !== 'RevisionPinned');
  const observedGeneration = image.metadata.generation;
  const pinned = { type: 'RevisionPinned', status: 'True', reason, message, observedGeneration } as const;
  const conditions = isPin ? withCondition(others, pinned, now) : others;
  const snapshot = found ? heldBy(found, revision) : { name, revision };
  const status = { snapshot, conditions, ...(image.status?.phase === 'Succeeded' ? { message } : {}) };
  return [
    patchStatus(image, status),
    recordEvent(image, false, reason, message, `${revision}/${now}`),
    ...(isLost ? [] : [publishReady(image, revision, { reason, message, nowMs })]),
  ];
}

/** An annotation that names no kept revision changes nothing. */
function notKept(observed: Observed, asked: string): Action[] {
  const { image, nowMs } = observed;
  const kept = usableRevisions(observed).map(({ revision }) => revision);
  const message = `Expected annotation ${annotation} to name a revision that is kept (${kept.join(', ') || 'none'}), found ${JSON.stringify(asked.slice(0, 100))}. Nothing is changed.`;
  const found = isNotSo('RevisionPinned', 'RevisionNotKept', message);
  const writes = reportConditions(image, [found], nowMs);
  if (writes.length === 0) return [];
  return [...writes, recordEvent(image, true, found.reason, message, `${asked}/${toTime(nowMs)}`)];
}
