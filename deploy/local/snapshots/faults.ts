import { matches } from '../controller/fault-table.ts';

/** What can go wrong with a snapshot beyond what a missing class or an unbound claim brings by itself. */
export type SnapshotFault =
  /** No sidecar runs for the driver: the content never gets a status. */
  | { mode: 'driverMismatch' }
  /** The driver refuses to take a snapshot this many times; the error stays in the status until the snapshot is ready. */
  | { mode: 'csiError' | 'errorLingers'; times?: number }
  /** The class names a Secret that does not exist: the driver is never called. */
  | { mode: 'noCredentials' }
  /** Copying takes that long. */
  | { mode: 'slowReady'; readyMs: number }
  /** Copying never ends. */
  | { mode: 'neverReady' }
  /** Someone deletes the content that long after the snapshot was ready. */
  | { mode: 'contentDeleted'; afterMs?: number };

/** A fault for snapshots whose name or claim matches; a string matches where it is contained. */
export type SnapshotFaultRule = SnapshotFault & { match: string | RegExp };

/** The first rule of this mode for a snapshot of this name or claim. */
export const faultOf = <M extends SnapshotFault['mode']>(
  rules: readonly SnapshotFaultRule[],
  names: readonly string[],
  ...modes: M[]
) =>
  rules
    .filter((rule): rule is Extract<SnapshotFaultRule, { mode: M }> => (modes as string[]).includes(rule.mode))
    .find((rule) => matches(rule, names));
