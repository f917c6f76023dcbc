import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../shared/runtime/errors.ts';
import { persistently } from '../../cluster/persistently.ts';
import type { World } from '../../stories/world.ts';
import type { Chance } from './chance.ts';

/** The count of operations, by name. */
export type Tally = Map<string, number>;

export const count = (tally: Tally, what: string) => tally.set(what, (tally.get(what) ?? 0) + 1);

/** A user of the cluster, who continues after any failure. */
export interface User {
  world: Pick<World, 'kube' | 'namespace' | 'store'>;
  chance: Chance;
  /** Ends the work. */
  signal: AbortSignal;
  tally: Tally;
}

/** Retries while the API server is unavailable; ignores changes by others (404, 409). */
export async function attempt<T>({ signal }: User, what: () => Promise<T>): Promise<T | undefined> {
  signal.throwIfAborted();
  try {
    return await persistently(what, signal);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return undefined;
    throw error;
  }
}

/** Pauses for a time between these two, in milliseconds. */
export const think = ({ chance, signal }: User, leastMs: number, mostMs: number): Promise<void> =>
  sleep(chance.between(leastMs, mostMs), undefined, { signal });

/** Repeats this until the signal, which interrupts it. */
export async function untilStopped(user: User, once: () => Promise<void>): Promise<void> {
  try {
    while (!user.signal.aborted) await once();
  } catch (error) {
    if (!user.signal.aborted) throw error;
  }
}

/** Waits for a result of `look`, until the signal at most; also while the API server is unavailable. */
export async function wait({ signal }: User, look: () => Promise<unknown>): Promise<void> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([look().catch(() => undefined), stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
