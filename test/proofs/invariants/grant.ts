import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import type { Step } from './follow.ts';
import { beganAt } from './pass.ts';
import { addedTo, type Holder, type Slots } from './slots-of.ts';

/** start-sync wrote it, and no hand: it puts the time of its pass into each write. */
export const isByStartSync = ({ change, object, before, isGone }: Step<Lease>) => {
  if (isGone) return false;
  if (change.by !== undefined) return change.by === 'start-sync';
  return object.spec?.renewTime !== undefined && object.spec.renewTime !== before?.spec?.renewTime;
};

/** A write of the Lease by start-sync that gave slots. */
export interface Grant {
  slots: Slots;
  added: readonly Holder[];
  /** When its pass began to read. */
  began: { revision?: number | undefined; ms: number };
}

/**
 * It takes its slot back, which somebody took out of the Lease or CDI's second thoughts cost it: that lets nobody in. It counts
 * that the pass found it downloading, which may be over by the time of its write.
 */
function isDownloading(step: Step<Lease>, uid: string): boolean {
  const { downloads, pods, atWorkUntil } = step.state;
  if ([...(downloads.get(uid)?.values() ?? [])].some(({ status }) => status?.phase !== 'Succeeded')) return true;
  if ((pods.get(uid)?.size ?? 0) > 0) return true;
  const until = atWorkUntil.get(uid);
  const { revision, ms } = beganAt(step);
  return until !== undefined && (revision === undefined ? until.ms >= ms : until.revision > revision);
}

/**
 * What a write of the Lease gave; undefined where it gave nothing, or where it restored a Lease that was lost: then it says
 * who downloads, whatever the limit and the queue.
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
