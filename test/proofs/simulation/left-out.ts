import type { Operation, Plan } from './plan.ts';

/** The operations that make the kinds of a function that acts on no other; the OpenStack functions are never loaded. */
const actsOnWhatIsMadeBy: Readonly<Record<string, readonly Operation['do'][]>> = {
  'compose-workspace': ['createWorkspace'],
  // A Workspace makes machines.
  'ensure-vmdi': ['createMachine', 'createWorkspace'],
  'provision-vm': ['createMachine', 'createWorkspace'],
  preload: ['publish'],
};

/**
 * True for a function that cannot decide anything in this plan: it would only read, which takes time. Faults make no objects of other
 * kinds than operations do.
 */
export function isLeftOut({ operations, sources }: Pick<Plan, 'operations' | 'sources'>, name: string): boolean {
  if (name === 'inspect-source') return sources === undefined;
  const makers = actsOnWhatIsMadeBy[name];
  return makers !== undefined && !operations.some((operation) => makers.includes(operation.do));
}
