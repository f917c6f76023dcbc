import type { Claim, DataVolume } from '../controller/kinds.ts';
import { annotation } from './annotation.ts';
import { snapshotOf } from './clone-source.ts';
import { claimLost, type PhaseChange, type StatusInput, silent } from './data-volume-status.ts';

/** What the populator of clones says on a claim, and what a DataVolume makes of it. */
const phases: Record<string, string> = {
  '': 'CloneScheduled',
  Pending: 'CloneScheduled',
  SnapshotClone: 'CloneFromSnapshotSourceInProgress',
  HostClone: 'CloneInProgress',
  PrepClaim: 'PrepClaimInProgress',
  Rebind: 'RebindInProgress',
  Succeeded: 'Succeeded',
};

/**
 * The phase of a DataVolume that is a clone, from its claim (CDI pkg/controller/datavolume/clone-controller-base.go).
 * An error of the populator leaves the phase as it was: CDI never calls a clone Failed for it.
 */
export function clonePhase(phase: string, claim: Claim, { dataVolume, waitsForConsumer }: StatusInput): PhaseChange {
  if (claim.status?.phase === 'Lost') return claimLost(claim);
  const copied = claim.metadata.annotations?.[annotation.clonePhase] ?? '';
  if (copied !== 'Succeeded' && waitsForConsumer) return silent('PendingPopulation');
  const next = phases[copied];
  return next === undefined ? silent(phase) : { phase: next, event: eventFor(next, dataVolume) };
}

function eventFor(phase: string, dataVolume: DataVolume): PhaseChange['event'] {
  const source = snapshotOf(dataVolume);
  const from = `${source.namespace}/${source.name}`;
  const to = `${dataVolume.metadata.namespace}/${dataVolume.metadata.name}`;
  const messages: Record<string, string> = {
    CloneScheduled: `Cloning from ${from} into ${to} scheduled`,
    CloneFromSnapshotSourceInProgress: `Creating PVC from snapshot source is in progress (for snapshot ${from})`,
    CloneInProgress: `Cloning from ${from} into ${to} in progress`,
    PrepClaimInProgress: `Prepping PersistentVolumeClaim for DataVolume ${to}`,
    RebindInProgress: `Rebinding PersistentVolumeClaim for DataVolume ${to}`,
    Succeeded: `Successfully cloned from ${from} into ${to}`,
  };
  const reason = phase === 'Succeeded' ? 'CloneSucceeded' : phase;
  return { type: 'Normal', reason, message: messages[phase] ?? '' };
}

/** The event of the first step of a clone across namespaces, which comes before there is a claim. */
export const scheduled = (dataVolume: DataVolume): PhaseChange => ({
  phase: 'CloneScheduled',
  event: eventFor('CloneScheduled', dataVolume),
});
