import { keyOf } from '../../../shared/kinds/resource.ts';
import type { Clock } from '../clock.ts';
import { timeInState } from '../controller/time-in-state.ts';
import type { Faults, ImportName } from './faults.ts';

/** Tells how long a controller that is down by a fault will still be down for an import; 0 when it is up. */
export function downTimes(clock: Clock, faults: Faults) {
  const times = timeInState(clock);
  return (namespace: string | undefined, name: ImportName | undefined): number => {
    if (!name) return 0;
    const key = keyOf({ namespace, name: name.dataVolume });
    const rule = faults.inject(key, name, 'controllerDown');
    if (!rule) return 0;
    const passedMs = times.msIn(key) - (rule.fromMs ?? 0);
    return passedMs < 0 ? 0 : Math.max(0, rule.forMs - passedMs);
  };
}
