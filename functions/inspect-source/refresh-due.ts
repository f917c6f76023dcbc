import { Cron } from 'croner';
import { isAdopting } from '../../shared/images/adoption.ts';
import { isSourceReplaced } from '../../shared/images/refresh.ts';
import { isFinished, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';

/** Whether the source of an image at rest is to be looked at again at an audit. Throws if `spec.refresh` is no cron expression. */
export function isRefreshDue(image: VMDiskImage, nowMs: number): boolean {
  const { spec, status, metadata } = image;
  const isSettled = isFinished(status?.phase) && metadata.deletionTimestamp === undefined && !isAdopting(image);
  if (spec.refresh === undefined || !isSettled || !status?.queuedAt || isSourceReplaced(image)) return false;
  if (spec.refresh === 'OnChange') return true;
  const looked = status?.source?.lookedAt ?? status?.source?.inspectedAt ?? metadata.creationTimestamp;
  const next = new Cron(spec.refresh, { timezone: 'UTC', paused: true }).nextRun(new Date(looked));
  return next !== null && next.getTime() <= nowMs;
}
