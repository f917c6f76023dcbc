import type { Action } from '../../shared/actions.ts';
import { formatReference, referencesAmong } from '../../shared/images/references.ts';
import { patchStatus } from '../../shared/images/status.ts';
import { isFinished, type VMDiskImage, type VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { formatWorkspace, isMadeForWorkspaces, waitingAmong } from '../../shared/workspaces/images.ts';
import type { Observed } from './observed.ts';

/** The limit of users that the status names. */
const mostNamed = 20;

/**
 * Writes the count if it differs, then counts again: another instance may have seen a newer machine in the meantime and found the old
 * count right, and would not correct this one. Where nothing was counted before, it would correct a zero.
 */
export function count({ image, machines, workspaces, policy, nowMs }: Observed): Action[] {
  if (!image || !isToCount(image)) return [];
  const using = referencesAmong(machines, policy);
  const waiting = waitingAmong(workspaces, image.metadata, { machines: using, policy });
  const users = [...using.map(formatReference), ...waiting.map(formatWorkspace)];
  const references = { count: users.length, by: users.slice(0, mostNamed) };
  const { references: before, unreferencedSince: since, phase } = image.status ?? {};
  const isUnused = users.length === 0;
  // Skip the first zero count: it saves one write per new image. For an image that was made for a workspace it means that the workspace
  // is deleted and nothing must be downloaded.
  const mayWait = !isFinished(phase) && !image.metadata.deletionTimestamp && !isMadeForWorkspaces(image);
  if (isUnused && !before && mayWait) return [];
  if (isSame(before, references) && isUnused === (since !== undefined)) return [];
  // From now, not from its creation, so that switching pruning on deletes nothing at once.
  const unreferencedSince = isUnused ? (since ?? toTime(nowMs)) : null;
  const status = { references, unreferencedSince };
  return [patchStatus(image, status), ...(before || !isUnused ? [{ do: 'requeue', about: image } as const] : [])];
}

/** Until an image has its place in the queue, its resourceVersion decides who came first within a second. A write would raise it. */
export const isToCount = ({ metadata, status }: VMDiskImage) =>
  Boolean(status?.phase) || metadata.deletionTimestamp !== undefined;

const isSame = (before: VMDiskImageStatus['references'], now: { count: number; by: readonly string[] }) =>
  before?.count === now.count && JSON.stringify(before.by ?? []) === JSON.stringify(now.by);
