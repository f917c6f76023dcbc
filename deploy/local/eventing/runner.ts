import { keyOf } from '../../../shared/kinds/resource.ts';
import { type Clock, delay } from '../clock.ts';

interface Runnable {
  metadata: { namespace?: string | undefined; name: string; uid: string };
  spec: unknown;
}

/** Keeps one thing running for each object. */
interface Runner<T> {
  /** Starts new objects, restarts changed ones, stops deleted ones; resolves after the first try of all. */
  reconcile(objects: Iterable<T>): Promise<void>;
  stop(): void;
}

const restartAfterMs = 10_000;

/** Runs `start` for each object until its signal aborts; restarts it if it throws, as a crashing pod is restarted. */
export function runner<T extends Runnable>(
  start: (object: T, signal: AbortSignal) => Promise<void>,
  { clock, onFailure }: { clock: Clock; onFailure(object: T, error: unknown): void },
): Runner<T> {
  const running = new Map<string, { fingerprint: string; controller: AbortController; tried: Promise<void> }>();
  const stop = (key: string) => {
    running.get(key)?.controller.abort();
    running.delete(key);
  };
  const run = async (object: T, signal: AbortSignal): Promise<void> => {
    try {
      await start(object, signal);
    } catch (error) {
      if (signal.aborted) return;
      onFailure(object, error);
      delay(clock, restartAfterMs, signal).then(
        () => run(object, signal),
        () => {},
      );
    }
  };
  return {
    async reconcile(objects) {
      const wanted = new Map([...objects].map((object) => [keyOf(object.metadata), object]));
      for (const key of [...running.keys()].filter((key) => !wanted.has(key))) stop(key);
      for (const [key, object] of wanted) {
        const fingerprint = `${object.metadata.uid} ${JSON.stringify(object.spec)}`;
        if (running.get(key)?.fingerprint === fingerprint) continue;
        stop(key);
        const controller = new AbortController();
        running.set(key, { fingerprint, controller, tried: run(object, controller.signal) });
      }
      await Promise.all([...running.values()].map(({ tried }) => tried));
    },
    stop: () => [...running.keys()].forEach(stop),
  };
}
