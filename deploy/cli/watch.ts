import { hasStatus } from '../../shared/runtime/errors.ts';
import {
  longerPause,
  pauseMs,
  type Reflecting,
  realPause,
  reflect,
  type Watching,
} from '../../shared/runtime/reflect.ts';
import type { Outcome, Watched } from './command.ts';

/** However much changes, the lists are read again at most this often. */
const leastMs = 1000;

/** Runs `again` now and whenever something of these has changed, until `stop`. What is not served, or this account may not watch, `again` reports itself. */
export async function whileWatching(
  { kube }: { kube: Watching },
  watched: readonly Watched[],
  again: () => Promise<void>,
  stop: AbortSignal,
  pause: Reflecting['pause'] = realPause,
): Promise<void> {
  let change = Promise.withResolvers<void>();
  const changed = () => change.resolve();
  stop.addEventListener('abort', changed);
  const follow = async ({ resource, name, namespace }: Watched) => {
    const only = { ...(namespace ? { namespace } : {}), ...(name ? { fieldSelector: `metadata.name=${name}` } : {}) };
    for (let nextMs = pauseMs.first; !stop.aborted; nextMs = longerPause(nextMs)) {
      try {
        return await reflect(kube, resource, only, { pause, signal: stop }, { changed, replaced: changed });
      } catch (error) {
        if (hasStatus(error, 403) || hasStatus(error, 404)) return;
        await pause(nextMs, stop);
      }
    }
  };
  // None of these fails, and only the signal ends them.
  for (const one of watched) void follow(one);
  while (!stop.aborted) {
    change = Promise.withResolvers();
    await again();
    if (stop.aborted) return;
    await change.promise;
    await pause(leastMs, stop);
  }
}

/** A line for each object that is new, is gone or has changed since the result before. */
export function changesBetween(before: Outcome['objects'] = [], { objects = [] }: Outcome): string[] {
  const last = new Map(before.map(({ about, says }) => [about, says]));
  const now = new Set(objects.map(({ about }) => about));
  return [
    ...objects.filter(({ about, says }) => last.get(about) !== says).map(({ about, says }) => `${about}: ${says}`),
    ...before.filter(({ about }) => !now.has(about)).map(({ about }) => `${about}: gone`),
  ];
}

/** The lines in a terminal of that size, so that they can be drawn over. */
export function fitted(lines: readonly string[], rows: number): string[] {
  const most = Math.max(2, rows - 1);
  if (lines.length <= most) return [...lines];
  return [...lines.slice(0, most - 1), `and ${lines.length - most + 1} more lines, for which the terminal is too low`];
}
