import { contentDigest } from '../../shared/images/content-digest.ts';
import { downloadShareOf } from '../../shared/images/download-share.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { barOf } from '../terminal/bar.ts';
import type { ShownPhase } from '../terminal/phase-style.ts';
import { phaseOf, stateOf } from './standing.ts';
import { formatName, type Subject } from './subject.ts';

/** The progress of the object that the user waits for. */
export interface Standing {
  phase: ShownPhase;
  /** Ready or Failed, for the current spec and request. */
  end: 'ready' | 'failed' | undefined;
  message: string;
  /** From 0 to 1, if it is known. */
  share: number | undefined;
}

/** The progress of an object; a status for an older spec or request is no end. */
export function standingOf(subject: Subject): Standing {
  const phase = phaseOf(subject);
  const state = isCurrent(subject) ? stateOf(subject) : 'under way';
  const end = state === 'under way' ? undefined : state === 'Ready' ? 'ready' : 'failed';
  return { phase, end, message: subject.status?.message ?? '', share: shareOf(subject) };
}

function isCurrent(subject: Subject): boolean {
  const { metadata, status } = subject;
  if (status?.observedGeneration !== undefined && status.observedGeneration < metadata.generation) return false;
  if (subject.kind !== 'VMDiskImage') return true;
  const image = subject as VMDiskImage;
  return image.status?.contentDigest === undefined || image.status.contentDigest === contentDigest(image);
}

/** The download of an image, or the components of a workspace. */
function shareOf(subject: Subject): number | undefined {
  if (subject.kind === VMDiskImage.kind) return downloadShareOf(subject as VMDiskImage);
  if (subject.kind !== Workspace.kind) return undefined;
  const [done, all] = ((subject as Workspace).status?.ready ?? '').split('/').map(Number);
  return done !== undefined && all ? done / all : undefined;
}

/** A line of a log: the same line is not printed twice. */
export const standingLine = (subject: Subject, { phase, message }: Standing) =>
  `${formatName(subject)}: ${phase || 'New'}${message ? `: ${message.replace(/\s+/g, ' ')}` : ''}`;

/** The line on a terminal, with a bar. */
export const standingBar = (subject: Subject, standing: Standing) =>
  standing.share === undefined
    ? standingLine(subject, standing)
    : `${barOf(standing.share, 20)} ${Math.round(standing.share * 100)}%  ${standingLine(subject, standing)}`;
