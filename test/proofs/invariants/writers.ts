import type { Change } from './history.ts';

/** Every function there is: nobody else's writes are judged as one's. */
export const functionNames = [
  'preload',
  'ensure-vmdi',
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

/** The function that wrote it, where that is known. */
export const isFunction = (name: string | undefined): name is FunctionName => name !== undefined && known.has(name);

/** It is known that no function wrote it. */
export const isByHand = ({ by }: Change) => by !== undefined && !known.has(by);
