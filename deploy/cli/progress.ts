import { contentDigest } from '../../shared/images/content-digest.ts';
import { downloadShareOf } from '../../shared/images/download-share.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { messageOf, phaseOf } from '../../shared/kubernetes/shown.ts';
import type { ShownPhase } from '../terminal/phase-style.ts';
import { stateOf } from './state.ts';
import type { Target } from './target.ts';

/** The progress of the object that the user waits for. */
export interface Progress {
  phase: ShownPhase;
  /** Ready or Failed, for the current spec and request. */
  end: 'ready' | 'failed' | undefined;
  message: string;
  /** From 0 to 1, if it is known. */
  share: number | undefined;
}

/** The progress of an object; a status for an older spec or request is no end. */
export function progressOf(target: Target): Progress {
  const phase = phaseOf(target);
  const state = isCurrent(target) ? stateOf(target) : 'under way';
  const end = state === 'Ready' ? 'ready' : state === 'Failed' ? 'failed' : undefined;
  return { phase, end, message: messageOf(target) ?? '', share: shareOf(target) };
}

function isCurrent(target: Target): boolean {
  const { metadata, status } = target;
  if (status?.observedGeneration !== undefined && status.observedGeneration < metadata.generation) return false;
  if (target.kind !== 'VMDiskImage') return true;
  const image = target as VMDiskImage;
  return image.status?.contentDigest === undefined || image.status.contentDigest === contentDigest(image);
}

/** The download of an image, or the components of a workspace. */
function shareOf(target: Target): number | undefined {
  if (target.kind === VMDiskImage.kind) return downloadShareOf(target as VMDiskImage);
  if (target.kind !== Workspace.kind) return undefined;
  const [done, all] = ((target as Workspace).status?.ready ?? '').split('/').map(Number);
  return done !== undefined && all ? done / all : undefined;
}
