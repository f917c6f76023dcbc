import type { KubernetesObject, ObjectReference, Resource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Clock } from '../clock.ts';
import { type Informer, startInformer } from './informer.ts';
import { type Again, startWorkQueue, type WorkQueue } from './work-queue.ts';
import { type Write, writer } from './write.ts';

/** What every simulator is started with. */
export interface SimulatorOptions {
  kube: Kube;
  clock: Clock;
  /** First and longest pause between two looks at what could not be finished, doubled in between; by default those of the real one. */
  retry?: { firstMs: number; maxMs: number };
  /** Hears of every look that failed and is going to be repeated. */
  onError?: (error: unknown, ref: ObjectReference) => void;
}

/** A simulator that was started. */
export interface Running {
  /** Ends everything that was started and resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

type Kinds = Readonly<Record<string, Resource>>;

/** What the controllers of a simulator share: what they watch, and how they write. */
export type Shared<Watched extends Kinds> = {
  [Name in keyof Watched]: Informer<ReturnType<Watched[Name]['parse']>>;
} & {
  kube: Kube;
  clock: Clock;
  /** Performs writes; every look after them sees them. */
  perform(writes: readonly Write[]): Promise<void>;
};

/** The controllers of one simulator, as clients by this name that watch these kinds; none looks at anything before `run`. */
export function simulator<Watched extends Kinds>(options: SimulatorOptions, name: string, watched: Watched) {
  const { kube, clock, onError, retry = { firstMs: 100, maxMs: 5000 } } = options;
  const abort = new AbortController();
  const seen = Object.entries(watched).map(([key, kind]) => [key, startInformer(kube, kind, abort.signal)] as const);
  const informers: Informer<KubernetesObject>[] = seen.map(([, informer]) => informer);
  // The next look need not wait for its own watch.
  const out = writer(kube, clock, name, (resource, object) => {
    for (const informer of informers) if (informer.resource === resource) informer.learn(object);
  });
  const queues: WorkQueue[] = [];
  return {
    shared: { ...Object.fromEntries(seen), kube, clock, perform: out.perform } as Shared<Watched>,
    /** The queue of one controller. */
    queue(reconcile: (ref: ObjectReference) => Promise<Again>): WorkQueue {
      const queue = startWorkQueue({ clock, reconcile, retry, onError });
      queues.push(queue);
      return queue;
    },
    /** Lets the controllers look at objects once all have been seen; `stopRest` ends what else runs, when no queue starts anything. */
    run(stopRest?: () => Promise<void>): Running {
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
    },
  };
}
