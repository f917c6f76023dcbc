import { faultKinds, operationKinds } from './arbitrary.ts';
import {
  downloadFaults,
  imageChildren,
  leaseEdits,
  machineChildren,
  machineFaults,
  type Plan,
  snapshotFaults,
  takenNames,
} from './plan.ts';
import type { Run } from './simulate.ts';

/** Names with several variants. */
const variants: Readonly<Record<string, readonly string[]>> = {
  lease: leaseEdits,
  takeName: takenNames,
  deleteChild: imageChildren,
  deleteMachineChild: machineChildren,
  download: downloadFaults,
  snapshot: snapshotFaults,
  machine: machineFaults,
};

const rowsFor = (name: string) => variants[name]?.map((variant) => `${name} ${variant}`) ?? [name];

const rowOf = (name: string, of: object) => {
  const variant = 'how' in of ? of.how : 'of' in of ? of.of : undefined;
  return variant === undefined ? name : `${name} ${variant}`;
};

/** A plan in which no event is sent. */
const deaf = 'isDeaf';

/** The rows of a report: all operations and all faults. */
export const operationRows: readonly string[] = operationKinds.flatMap(rowsFor);
export const faultRows: readonly string[] = [...faultKinds.flatMap(rowsFor), deaf];

/** The rows of one run: its operations, and the faults that had an effect. */
export function rowsOf({ operations, isDeaf }: Plan, { injected }: Pick<Run, 'injected'>): ReadonlySet<string> {
  return new Set([
    ...operations.map((operation) => rowOf(operation.do, operation)),
    ...[...injected.keys()].map((fault) => rowOf(fault.kind, fault)),
    ...(isDeaf ? [deaf] : []),
  ]);
}
