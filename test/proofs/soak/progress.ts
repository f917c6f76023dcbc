import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Change } from '../../stories/history.ts';
import type { Tally } from './user.ts';

/** The progress, in one line. */
export function formatProgress(startedMs: number, minutes: number, changes: readonly Change[], kills: Tally): string {
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  const { 'images synced': synced, 'images failed': failed } = outcomesOf(changes);
  const killed = [...kills.values()].reduce((sum, times) => sum + times, 0);
  return `${seconds} of ${minutes * 60} s: ${synced} images synced, ${failed} failed, ${killed} kills, ${changes.length} changes`;
}

/** The number of images per final phase. */
export function outcomesOf(changes: readonly Change[]): Record<'images synced' | 'images failed', number> {
  const phases = new Map<string, string | undefined>();
  const ends = { Succeeded: 0, Failed: 0 };
  for (const { object } of changes) {
    if (object.kind !== VMDiskImage.kind) continue;
    const phase = (object as VMDiskImage).status?.phase;
    if (phases.get(object.metadata.uid) !== phase && (phase === 'Succeeded' || phase === 'Failed')) ends[phase]++;
    phases.set(object.metadata.uid, phase);
  }
  return { 'images synced': ends.Succeeded, 'images failed': ends.Failed };
}
