import { type FaultTable, type FaultTarget, tableOf } from '../controller/fault-table.ts';

/** What can go wrong with an import, or the clone of a snapshot, beyond what a real download brings by itself. */
type FaultMode =
  /** The controller looks too late: a failure shows only as one restart more. */
  | { mode: 'missedTerminated' }
  /** As CDI before 1.59: the request for scratch space looks like an error and a restart. */
  | { mode: 'oldScratch' }
  /** The transfer stops at this share of its bytes without an error. */
  | { mode: 'stall'; at?: number }
  /** The kubelet evicts the pod at this share. */
  | { mode: 'evicted'; at?: number }
  /** Someone deletes the pod at this share, as draining a node does. */
  | { mode: 'drained'; at?: number }
  /** The container is killed for its memory at this share. */
  | { mode: 'oom'; at?: number }
  /** The container is killed (SIGKILL) at this share. */
  | { mode: 'killed'; at?: number }
  /** The importer's own image cannot be pulled for this time. */
  | { mode: 'imagePull'; forMs: number }
  /** No node takes the pod for this time. */
  | { mode: 'unschedulable'; forMs: number }
  /** The namespace's quota has no room for the claim. */
  | { mode: 'quota' }
  /** The quota has no room for the scratch claim. */
  | { mode: 'scratchQuota' }
  /** The driver makes no volume; also for a claim of this name that no import fills. */
  | { mode: 'provisionError' }
  /** The volume vanishes after a successful import. */
  | { mode: 'claimLost' }
  /** CDI does nothing for this time, from the DataVolume's creation or so long after it on. */
  | { mode: 'controllerDown'; fromMs?: number; forMs: number }
  /** The phase goes back once while the import runs. */
  | { mode: 'flap' }
  /** Cloning a snapshot meets an error for this time: Running is False with reason Error, and the phase stays what it was. */
  | { mode: 'cloneError'; forMs: number; message?: string };

/** A fault for the imports whose URL or DataVolume name matches (a clone has no URL); a string matches where it is contained. */
export type FaultRule = FaultMode & FaultTarget;

export interface ImportName {
  dataVolume: string;
  url: string;
}

export type Faults = FaultTable<FaultRule, ImportName>;

export const faultTable = (rules: readonly FaultRule[]): Faults =>
  tableOf(rules, ({ dataVolume, url }) => [dataVolume, url]);
