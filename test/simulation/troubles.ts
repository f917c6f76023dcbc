import { faultKinds } from './arbitrary.ts';
import {
  downloadFaults,
  type Fault,
  leaseEdits,
  machineFaults,
  type Operation,
  type Plan,
  snapshotFaults,
} from './plan.ts';
import type { Run } from './simulate.ts';

/** Users' operations that are trouble for the functions, beside what the plan calls faults. */
const troublesome = [
  'policy',
  'deletePolicy',
  'deleteStorageClass',
  'deleteSnapshotClass',
  'takeName',
  'loseSnapshot',
  'wipeStatus',
  'garbleStatus',
  'deleteForeground',
  'deleteOrphan',
  'dropFinalizers',
  'forceDelete',
  'restoreImage',
  'adopt',
  'unadopt',
  'useRevision',
  'deleteChild',
  'deleteMachineChild',
  'unknownPhase',
  'createWorkspace',
  'deleteWorkspace',
] as const satisfies readonly Operation['do'][];

const hows = { download: downloadFaults, snapshot: snapshotFaults, machine: machineFaults } as const;

/** Everything that may go wrong in a run, by the names that reports use. */
export const allTroubles: readonly string[] = [
  ...faultKinds.flatMap((kind) =>
    kind in hows ? hows[kind as keyof typeof hows].map((how) => `${kind} ${how}`) : [kind],
  ),
  ...leaseEdits.map((how) => `lease ${how}`),
  ...troublesome,
];

/** What went wrong in this run: the faults that came to something, and what users did. */
export function troublesOf({ operations }: Plan, { struck }: Run): ReadonlySet<string> {
  const faults = [...struck.keys()].map((fault: Fault) => ('how' in fault ? `${fault.kind} ${fault.how}` : fault.kind));
  const done = operations.map((operation) => (operation.do === 'lease' ? `lease ${operation.how}` : operation.do));
  return new Set([...faults, ...done]);
}
