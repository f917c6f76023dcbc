import { type FaultTable, type FaultTarget, tableOf } from '../controller/fault-table.ts';

/**
 * What can go wrong with a machine beyond what a missing Secret, network or disk brings by itself. What is given a time heals
 * when that is over; a fault with `times` heals by itself after that many occasions.
 */
type MachineFaultMode =
  /** No node takes the launcher Pod for this time: ErrorUnschedulable. */
  | { mode: 'unschedulable'; forMs: number }
  /** The launcher ends before the guest runs (each start is an occasion): CrashLoopBackOff between the starts. */
  | { mode: 'crashLoop' }
  /** KubeVirt does not see the machine's claims for this time: ErrorPvcNotFound. */
  | { mode: 'pvcNotFound'; forMs: number }
  /**
   * KubeVirt takes the machine's DataVolumes for failing, for this time: DataVolumeError. The DataVolume itself says nothing of
   * it; where it should, CDI's fault `cloneError` is the whole of it.
   */
  | { mode: 'dataVolumeError'; forMs: number }
  /** The launcher's image cannot be pulled (each pull is an occasion): ErrImagePull and ImagePullBackOff alternate. */
  | { mode: 'imagePull' }
  /** The guest cannot start in its Pod for this time: Synchronized is False, and printableStatus stays Starting. */
  | { mode: 'domainFails'; forMs: number }
  /** The guest powers itself off so long after it was up. */
  | { mode: 'guestShutdown'; afterMs?: number }
  /** The node is lost so long after the guest was up: not ready any more, then Failed and started elsewhere. */
  | { mode: 'nodeLost'; afterMs?: number }
  /** A deleted launcher Pod does not go for this time; for ever when left out. */
  | { mode: 'stuckTerminating'; forMs?: number }
  /** The guest has an agent, or has none, whatever the others have. */
  | { mode: 'agent' | 'noAgent' };

/** A fault for the machines whose name matches. */
export type MachineFaultRule = MachineFaultMode & FaultTarget;

export type MachineFaults = FaultTable<MachineFaultRule, string>;

export const machineFaults = (rules: readonly MachineFaultRule[]): MachineFaults => tableOf(rules, (name) => [name]);
