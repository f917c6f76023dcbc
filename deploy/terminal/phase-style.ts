import type { ServerPhase } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { NetworkPhase } from '../../shared/kinds/kupenstack/virtual-network.ts';
import type { VolumePhase } from '../../shared/kinds/kupenstack/volume.ts';
import type { MachinePhase } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { Phase } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ComponentPhase, WorkspacePhase } from '../../shared/kinds/pelotech/workspace.ts';
import { type Span, styled } from './paint.ts';

const styles = {
  Queued: 'dim',
  Syncing: 'cyan',
  Snapshotting: 'blue',
  Retrying: 'yellow',
  Succeeded: 'green',
  Scheduled: 'dim',
  Hibernated: 'blue',
  Provisioning: 'cyan',
  Ready: 'green',
  Failed: 'red',
  Waiting: 'dim',
  Skipped: 'dim',
  Terminating: 'magenta',
  Gone: 'dim',
  Pending: 'dim',
  Creating: 'cyan',
  Downloading: 'cyan',
  Starting: 'cyan',
  Stopping: 'cyan',
  Restarting: 'cyan',
  Resizing: 'cyan',
  Running: 'green',
  Available: 'green',
  InUse: 'green',
  Stopped: 'dim',
  Unknown: 'yellow',
} as const;

/**
 * The phase of an image, of a machine, of a part of a workspace or of what is on OpenStack, or that it is being deleted, or
 * gone; empty if no function has reconciled it yet. Another version of the functions may write any other.
 */
export type ShownPhase =
  | Phase
  | MachinePhase
  | WorkspacePhase
  | ComponentPhase
  | ServerPhase
  | NetworkPhase
  | VolumePhase
  | 'Gone'
  | ''
  | (string & {});

/** A phase in its colour; what no one has looked at yet is New. */
export const phaseSpan = (phase: ShownPhase): Span =>
  phase === '' ? styled('dim', 'New') : styled(isKnown(phase) ? styles[phase] : styles.Unknown, phase);

const isKnown = (phase: string): phase is keyof typeof styles => Object.hasOwn(styles, phase);
