import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import type { Informer } from './informer.ts';
import type { startWorkQueue } from './work-queue.ts';

export interface Running {
  /** Ends everything that was started and resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

/** What the controllers of one simulator share. */
interface Controllers {
  /** Ends the watches. */
  abort: AbortController;
  informers: readonly Informer<KubernetesObject>[];
  queues: readonly Pick<ReturnType<typeof startWorkQueue>, 'start' | 'stop'>[];
  out: { settled(): Promise<void> };
  /** What else runs, and is ended once no queue starts anything any more. */
  stopRest?(): Promise<void>;
}

/** Lets controllers look at objects once all of them have been seen, until they are stopped. */
export function runControllers({ abort, informers, queues, out, stopRest }: Controllers): Running {
  void Promise.all(informers.map(({ synced }) => synced)).then(() => {
    for (const queue of queues) queue.start();
  });
  return {
    async stop() {
      abort.abort();
      await Promise.all(queues.map((queue) => queue.stop()));
      await stopRest?.();
      await out.settled();
      await Promise.all(informers.map(({ done }) => done));
    },
  };
}

/** Tells the informers of what was just written, so that the next look need not wait for its own watch. */
export const learning =
  (informers: readonly Informer<KubernetesObject>[]) => (resource: Resource, object: KubernetesObject) => {
    for (const informer of informers) if (informer.resource === resource) informer.learn(object);
  };
