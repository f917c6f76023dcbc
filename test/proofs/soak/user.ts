import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../shared/runtime/errors.ts';
import { persistently } from '../../cluster/persistently.ts';
import type { World } from '../../stories/world.ts';
import type { Chance } from './chance.ts';

/** What has been done so far, by name. */
export type Tally = Map<string, number>;

export const count = (tally: Tally, what: string) => tally.set(what, (tally.get(what) ?? 0) + 1);

/** A user of the cluster, who continues whatever happens to it. */
export interface User {
  world: Pick<World, 'kube' | 'namespace' | 'store'>;
  chance: Chance;
  /** Ends their work. */
  signal: AbortSignal;
  tally: Tally;
}

/** Does something as long as the API server is away; what others did (404, 409) is ignored. */
export async function attempt<T>({ signal }: User, what: () => Promise<T>): Promise<T | undefined> {
  signal.throwIfAborted();
  try {
    return await persistently(what, signal);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return undefined;
    throw error;
  }
}

/** Thinks for a while between these two, in milliseconds. */
export const think = ({ chance, signal }: User, leastMs: number, mostMs: number): Promise<void> =>
  sleep(chance.between(leastMs, mostMs), undefined, { signal });

/** Does the same again and again until the signal, which ends it in the middle. */
export async function untilStopped(user: User, once: () => Promise<void>): Promise<void> {
  try {
    while (!user.signal.aborted) await once();
  } catch (error) {
    if (!user.signal.aborted) throw error;
  }
}

/** Waits for what `look` resolves with, also where that is never: no wait outlasts the signal, or an API server that is away. */
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
