import type { Phase } from '../../../shared/resources/pelotech/vm-disk-image.ts';
import { type Span, styled } from './paint.ts';

const styles = {
  Queued: 'dim',
  Syncing: 'cyan',
  Snapshotting: 'blue',
  Retrying: 'yellow',
  Succeeded: 'green',
  Failed: 'red',
} as const;

/** A phase in its colour; an image nobody has looked at yet is New. */
export const phaseSpan = (phase: Phase | ''): Span =>
  phase === '' ? styled('dim', 'New') : styled(styles[phase], phase);
