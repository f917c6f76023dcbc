import { setTimeout as sleep } from 'node:timers/promises';
import { NoAnswer } from '../../shared/runtime/errors.ts';

const giveUpAfterMs = 180_000;
const pauseMs = 200;

/** Asks again where the API server was away in the middle of it. */
export async function persistently<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const overMs = Date.now() + giveUpAfterMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > overMs || !isAway(error)) throw error;
      await sleep(pauseMs, undefined, signal ? { signal } : {});
    }
  }
}

/** No answer, or a broken one; or the API server runs and is not ready yet. */
const isAway = (error: unknown) =>
  error instanceof NoAnswer ||
  /ECONNREFUSED|ECONNRESET|socket|fetch failed|terminated|other side closed|premature close/i.test(
    `${error} ${(error as Error).cause}`,
  ) ||
  notReady.has((error as { status?: number }).status ?? 0);

const notReady = new Set([429, 500, 503, 504]);
