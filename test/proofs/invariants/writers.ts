import type { Change } from './history.ts';

/** All functions: a write under any other name is external. */
export const functionNames = [
  'preload',
  'ensure-vmdi',
  'inspect-source',
  'start-sync',
  'follow-sync',
  'provision-vm',
  'compose-workspace',
  'count-refs',
  'prune',
  'dead-letters',
] as const;
export type FunctionName = (typeof functionNames)[number];

const known = new Set<string>(functionNames);

export const isFunction = (name: string | undefined): name is FunctionName => name !== undefined && known.has(name);

/** The writer is known, and is not a function. */
export const isExternal = ({ by }: Change) => by !== undefined && !known.has(by);
