import type { MachinePhase } from '../../../shared/resources/pelotech/virtual-machine.ts';
import type { Phase } from '../../../shared/resources/pelotech/vm-disk-image.ts';
import type { ComponentPhase } from '../../../shared/resources/pelotech/workspace.ts';
import { type Span, styled } from './paint.ts';

const styles = {
  Queued: 'dim',
  Syncing: 'cyan',
  Snapshotting: 'blue',
  Retrying: 'yellow',
  Succeeded: 'green',
  Provisioning: 'cyan',
  Ready: 'green',
  Failed: 'red',
  Waiting: 'dim',
  Skipped: 'dim',
  Terminating: 'magenta',
  Gone: 'dim',
} as const;

/**
 * The phase of an image, of a machine or of a part of a workspace, or that it is being deleted, or gone; empty where nobody
 * has looked at it yet.
 */
export type ShownPhase = Phase | MachinePhase | ComponentPhase | 'Terminating' | 'Gone' | '';

/** A phase in its colour; what nobody has looked at yet is New. */
export const phaseSpan = (phase: ShownPhase): Span =>
  phase === '' ? styled('dim', 'New') : styled(styles[phase], phase);
