import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import type { Step } from './follow.ts';
import { beganAt } from './reconcile.ts';
import { addedTo, type Holder, type Slots } from './slots-of.ts';

/** start-sync wrote the Lease: each of its writes has a new renewTime. */
export const isByStartSync = ({ change, object, before, isGone }: Step<Lease>) => {
  if (isGone) return false;
  if (change.by !== undefined) return change.by === 'start-sync';
  return object.spec?.renewTime !== undefined && object.spec.renewTime !== before?.spec?.renewTime;
};

/** A write of the Lease by start-sync that assigned slots. */
export interface Grant {
  slots: Slots;
  added: readonly Holder[];
  /** When its reconcile began to read. */
  began: { revision?: number | undefined; ms: number };
}

/**
 * The image downloads and only gets back the slot that an edit of the Lease, or a phase that CDI took back, had cost it. The
 * download may have ended between the start of the reconcile and its write.
 */
function isDownloading(step: Step<Lease>, uid: string): boolean {
  const { downloads, pods, lastActive } = step.state;
  if ([...(downloads.get(uid)?.values() ?? [])].some(({ status }) => status?.phase !== 'Succeeded')) return true;
  if ((pods.get(uid)?.size ?? 0) > 0) return true;
  const until = lastActive.get(uid);
  const { revision, ms } = beganAt(step);
  return until !== undefined && (revision === undefined ? until.ms >= ms : until.revision > revision);
}

/**
 * The slots that a write of the Lease assigned; undefined if none, or if it rebuilt a lost Lease, which lists the running
 * downloads whatever the limit and the queue.
 */
export function grantOf(step: Step<Lease>): Grant | undefined {
  const { slots } = step.state;
  if (!slots || !step.slotsBefore || !isByStartSync(step)) return undefined;
  const added = addedTo(step.slotsBefore, slots).filter(({ uid }) => !isDownloading(step, uid));
  if (added.length === 0) return undefined;
  const renewed = Date.parse(step.object.spec?.renewTime ?? '');
  const { revision, ms } = beganAt(step);
  return { slots, added, began: { revision, ms: Number.isFinite(renewed) ? Math.min(renewed, step.change.atMs) : ms } };
}
