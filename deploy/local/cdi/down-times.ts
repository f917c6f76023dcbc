import { keyOf } from '../../../shared/kinds/resource.ts';
import type { Clock } from '../clock.ts';
import type { Faults, ImportName } from './faults.ts';

/** Tells how long a controller that is down by a fault will still be down for an import; 0 when it is up. */
export function downTimes(clock: Clock, faults: Faults) {
  const firstSeen = new Map<string, number>();
  return (namespace: string | undefined, name: ImportName | undefined): number => {
    if (!name) return 0;
    const key = keyOf({ namespace, name: name.dataVolume });
    const rule = faults.inject(key, name, 'controllerDown');
    if (!rule) return 0;
    const seenMs = firstSeen.get(key) ?? clock.now();
    firstSeen.set(key, seenMs);
    const passedMs = clock.now() - seenMs - (rule.fromMs ?? 0);
    return passedMs < 0 ? 0 : Math.max(0, rule.forMs - passedMs);
  };
}
