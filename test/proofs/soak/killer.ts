import { setTimeout as sleep } from 'node:timers/promises';
import { victims } from '../../cluster/victims.ts';
import type { Chance } from './chance.ts';
import { count, type Tally } from './user.ts';

const pauseMs = { least: 3000, most: 18_000 };

/** Kills the victims equally often, one at a time, until the signal; when it resolves, the last one is running again. */
export async function killAll(chance: Chance, kills: Tally, signal: AbortSignal): Promise<void> {
  let next: (keyof typeof victims)[] = [];
  while (!signal.aborted) {
    const pause = chance.between(pauseMs.least, pauseMs.most);
    await sleep(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    if (next.length === 0) next = chance.shuffled(Object.keys(victims) as (keyof typeof victims)[]);
    const victim = next.pop();
    if (!victim) return;
    await victims[victim]();
    count(kills, victim);
  }
}
