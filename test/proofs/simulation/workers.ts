import type { ClusterState } from '../../../deploy/local/api-server/cluster-state.ts';
import { type WatchEvent, watchObjects } from '../../../deploy/local/api-server/watch-objects.ts';
import { reflectingBy } from '../../../deploy/local/eventing/reflect.ts';
import { type Batch, type FunctionDeclaration, noEvents } from '../../../shared/function.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { backgroundWork } from '../../../shared/runtime/background.ts';
import { besideReconciles } from '../../../shared/runtime/beside.ts';
import { withCaches } from '../../../shared/runtime/cache.ts';
import { coalesced } from '../../../shared/runtime/coalesce.ts';
import { limitConcurrency } from '../../../shared/runtime/concurrency.ts';
import { delayedBatches } from '../../../shared/runtime/delayed-batches.ts';
import { ApiError } from '../../../shared/runtime/errors.ts';
import { type Kube, requestsInFlight, requestTimeoutMs } from '../../../shared/runtime/kube.ts';
import { pagedAudits } from '../../../shared/runtime/paged-audits.ts';
import type { DomainEvent } from '../../../shared/runtime/publish.ts';
import { type Ports, reconcile } from '../../../shared/runtime/reconcile.ts';
import { republishing } from '../../../shared/runtime/republish.ts';
import type { ReadSource } from '../../../shared/runtime/sources/read-source.ts';
import type { Telemetry } from '../../../shared/runtime/telemetry/telemetry.ts';
import type { Faults } from './faults.ts';
import { ReconcileRecorder } from './reconcile-recorder.ts';
import type { Recorder } from './recorder.ts';
import { asSeenByClient, isWrite, kindOf, kubeOf, parse, type Request, type Run } from './requests.ts';
import type { Scheduler } from './scheduler.ts';

/** The environment of all instances of all functions. */
export interface Surroundings {
  state: ClusterState;
  scheduler: Scheduler;
  faults: Faults;
  recorder: Recorder;
  random(): number;
  publish(event: DomainEvent, from: string): void;
  readSource: ReadSource;
  /** A test's wrapper around the client of a function. */
  through?(kube: Kube, functionName: string): Kube;
  /** The most requests that a process has in flight, if it differs from the client's limit. */
  mostInFlight?: number;
}

/** The time after the end of a process until its events are delivered again. */
const redeliveredAfterMs = 1000;

/** A process of a function: it reconciles until it ends, and performs nothing after that. */
class Instance {
  readonly #declaration: FunctionDeclaration;
  readonly #around: Surroundings;
  readonly #reconcile: (batch: Batch) => Promise<void>;
  readonly #later: ReturnType<typeof delayedBatches>;
  readonly #unanswered = new Set<(error: Error) => void>();
  readonly #reconciles: ReconcileRecorder;
  readonly #inTurn: ReturnType<typeof limitConcurrency>;
  readonly #ending = new AbortController();
  #isAlive = true;
  #reconcileBegan = 0;
  /** The resourceVersion of the newest answer to this process. */
  #seen = 0;

  constructor(declaration: FunctionDeclaration, around: Surroundings) {
    this.#around = around;
    this.#reconciles = new ReconcileRecorder(around.recorder.reconcile);
    this.#inTurn = limitConcurrency(around.mostInFlight ?? requestsInFlight);
    this.#declaration = {
      ...declaration,
      beside: (one) => {
        const object = declaration.beside?.(one);
        if (object) this.#reconciles.leave(object, this.#reconcileBegan);
        return object;
      },
      observe: (context, batch) => {
        this.#reconcileBegan = around.recorder.revision;
        const begins = { by: declaration.name, since: this.#reconcileBegan, atMs: around.scheduler.now() };
        const busy = context.beside?.busy ?? new Set();
        return this.#reconciles.begin(begins, batch, busy, () => declaration.observe(context, batch));
      },
    };
    const ports = this.#ports();
    const unrecorded = { ...ports, kube: this.#kube('beside reconciles') };
    const republish = republishing(declaration, unrecorded);
    this.#later = delayedBatches(
      (about) => this.#reconcile({ ...noEvents, subjects: [about] }),
      around.scheduler.after,
      around.scheduler.now,
    );
    const shared = { declaration: this.#declaration, ports, background: backgroundWork(), republish };
    const { requeueAfter } = this.#later;
    const reconciler = { ...shared, requeueAfter, beside: besideReconciles(requeueAfter, around.random) };
    const reconciles = coalesced((batch) => reconcile(reconciler, batch));
    this.#reconcile = pagedAudits({ ...shared, ports: unrecorded }, reconciles);
  }

  get isAlive() {
    return this.#isAlive;
  }

  /** Delivers an event; rejects also if the process ends before it answers. */
  take(batch: Batch): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#unanswered.add(reject);
    const settled = this.#reconcile(batch).finally(() => this.#unanswered.delete(reject));
    settled.then(resolve, reject);
    return promise;
  }

  end() {
    this.#isAlive = false;
    this.#ending.abort();
    this.#later.cancelAll();
    const { scheduler } = this.#around;
    for (const reject of this.#unanswered) {
      scheduler.after(redeliveredAfterMs, () => reject(new Error('the process ended')));
    }
    this.#unanswered.clear();
  }

  #ports(): Ports {
    const { scheduler, faults, random, publish, readSource } = this.#around;
    const { name } = this.#declaration;
    const reflecting = reflectingBy({ clock: scheduler, signal: this.#ending.signal });
    const watching = { ...this.#kube('beside reconciles'), watch: this.#watch };
    return {
      ...withCaches(this.#kube('of a reconcile'), this.#declaration.caches, reflecting, watching),
      telemetry: silent,
      now: () => scheduler.now() + faults.secondsOff(name) * 1000,
      pause: (milliseconds) => new Promise((resolve) => scheduler.after(Math.ceil(milliseconds), resolve)),
      random,
      readSource,
      publisher: { publish: (event) => (this.#isAlive ? publish(event, name) : undefined), republish: () => undefined },
    };
  }

  /** Its requests queue like those of kubeClient. */
  #kube(asks: 'of a reconcile' | 'beside reconciles'): Kube {
    const { state, through } = this.#around;
    const { name } = this.#declaration;
    const kube = kubeOf(state, name, (request, run) => {
      const send = () => this.#inTurn(() => this.#reconciles.sent(() => this.#carry(request, run)));
      return asks === 'of a reconcile' ? this.#reconciles.asked(request, send) : send();
    });
    return through ? through(kube, name) : kube;
  }

  /** Its lines arrive one after the other, each in a step of its own, so that the cache is behind by any number of them. */
  #watch: Kube['watch'] = async (resource, { signal, resourceVersion = '', fieldSelector = '' }, onEvent) => {
    const { state, scheduler, faults } = this.#around;
    const lines: WatchEvent[] = [];
    const next = () => {
      const [line] = lines;
      if (!line || signal.aborted) return;
      const take = () => {
        lines.shift();
        if (!signal.aborted) onEvent({ type: line.type as 'ADDED', object: parse(resource, line.object) as never });
        next();
      };
      const late = faults.at(faults.count('watchLine'), 'watchLate');
      if (late) scheduler.heldUp(late.seconds * 1000, take);
      else scheduler.add(take);
    };
    const send = (line: WatchEvent) => {
      lines.push(line);
      if (lines.length === 1) next();
    };
    const kind = kindOf(state, resource);
    const query = {
      namespace: undefined,
      labelSelector: '',
      fieldSelector,
      resourceVersion,
      sendInitialEvents: false,
      bookmarks: false,
    };
    const stop = watchObjects(state, kind, query, send);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    stop();
  };

  /** A request arrives in one step and is answered in another, so any two can overtake each other. */
  #carry<T>(request: Request, run: Run<T>): Promise<T> {
    const { scheduler, faults, recorder } = this.#around;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const lateAnswer = faults.at(faults.count('answer'), 'answerLate');
    const isTooLate = ({ seconds }: { seconds: number }) => seconds * 1000 > requestTimeoutMs;
    /** The timeout of the client. */
    const giveUp = () =>
      scheduler.heldUp(requestTimeoutMs, () => {
        if (this.#isAlive) reject(new Error('no answer in time'));
      });
    const answer = (give: () => void) => {
      const step = () => {
        if (this.#isAlive) give();
      };
      if (!lateAnswer) scheduler.add(step);
      else if (isTooLate(lateAnswer)) giveUp();
      else scheduler.heldUp(lateAnswer.seconds * 1000, step);
    };
    const arrive = async () => {
      if (!this.#isAlive) return;
      const isToWrite = isWrite(request);
      const write = isToWrite ? faults.count('write') : -1;
      const refusal = this.#refusal(request, write);
      if (refusal) return answer(() => reject(refusal));
      if (faults.at(write, 'crashBefore')) return this.end();
      const author = {
        by: this.#declaration.name,
        since: this.#reconciles.leftBy(request)?.since ?? this.#reconcileBegan,
        ...(request.verb === 'delete' ? { deletion: request.preconditions ?? {} } : {}),
      };
      const asOf = isToWrite ? undefined : this.#staleness();
      const done = recorder.as(author, () => run(asOf));
      const result = await done.then(
        (value) => () => resolve(value),
        (error: unknown) => () => reject(asSeenByClient(error)),
      );
      // After the request, so that what it wrote counts.
      this.#seen = Math.max(this.#seen, asOf ?? recorder.revision);
      if (faults.at(write, 'crashAfter')) return this.end();
      if (faults.at(write, 'answerLost')) return answer(() => reject(new Error('socket hang up')));
      answer(result);
    };
    const late = faults.at(faults.count('slow'), 'slow');
    if (!late) scheduler.add(arrive);
    // The connection ends with the client's timeout, and the API server performs nothing for a closed connection.
    else if (isTooLate(late)) giveUp();
    else scheduler.heldUp(late.seconds * 1000, arrive);
    return promise;
  }

  /**
   * The resourceVersion of a stale read; the reconcile knows no later state. It is never older than what the process read or wrote before:
   * a real API server promises more, a read without resourceVersion shows the newest state (Kubernetes API concepts, "Most Recent").
   */
  #staleness(): number | undefined {
    const { faults, recorder } = this.#around;
    const stale = faults.at(faults.count('read'), 'staleRead');
    if (!stale) return undefined;
    const asOf = Math.max(recorder.began, this.#seen, recorder.revision - stale.back);
    this.#reconcileBegan = Math.min(this.#reconcileBegan, asOf);
    return asOf;
  }

  #refusal({ verb, resource, page = 0 }: Request, write: number): ApiError | undefined {
    const { faults } = this.#around;
    const request = faults.count('request');
    if (faults.at(request, 'busy')) return new ApiError(429, 'TooManyRequests', 'too many requests');
    if (faults.at(request, 'away')) return new ApiError(503, 'ServiceUnavailable', 'the server is unavailable');
    if (page > 0 && faults.at(faults.count('page'), 'listExpired'))
      return new ApiError(410, 'Expired', 'the continue token is too old');
    if (write < 0) return undefined;
    // An apply and a create have no resourceVersion.
    const isConditional = verb !== 'apply' && verb !== 'create';
    if (isConditional && faults.at(write, 'conflicts'))
      return new ApiError(409, 'Conflict', 'the object has been modified');
    const isSnapshot = verb === 'create' && resource.kind === VolumeSnapshot.kind;
    if (isSnapshot && faults.at(faults.count('snapshotRequest'), 'snapshotRefused'))
      return new ApiError(403, 'Forbidden', 'exceeded quota: snapshots');
    if (faults.at(write, 'forbidden')) return new ApiError(403, 'Forbidden', 'exceeded quota: lab');
    if (faults.at(write, 'invalid')) return new ApiError(422, 'Invalid', 'a webhook denied the request');
    return undefined;
  }
}

/** All instances of all functions. An instance that ends is replaced immediately, without its state. */
export class Workers {
  readonly #around: Surroundings;
  readonly #declarations: ReadonlyMap<string, FunctionDeclaration>;
  readonly #instances = new Map<string, Instance[]>();

  constructor(declarations: readonly FunctionDeclaration[], around: Surroundings) {
    this.#around = around;
    this.#declarations = new Map(declarations.map((declaration) => [declaration.name, declaration]));
    for (const { name } of declarations) {
      const count = around.faults.lasting('replicas', name)?.count ?? 1;
      this.#instances.set(
        name,
        Array.from({ length: count }, () => this.#start(name)),
      );
    }
  }

  deliver = (name: string, batch: Batch): Promise<void> => {
    const instances = this.#instances.get(name) ?? [];
    // Where there is no choice, chance is not asked: a function that is left out changes nothing for the others.
    const chosen = instances.length > 1 ? Math.floor(this.#around.random() * instances.length) : 0;
    const replicas = this.#around.faults.lasting('replicas', name);
    if (replicas && chosen > 0) this.#around.faults.markInjected(replicas);
    const instance = instances[chosen];
    if (instance?.isAlive) return instance.take(batch);
    const next = this.#start(name);
    instances[chosen] = next;
    return next.take(batch);
  };

  #start(name: string): Instance {
    const declaration = this.#declarations.get(name);
    if (!declaration) throw new Error(`expected a function ${name}, found none`);
    return new Instance(declaration, this.#around);
  }
}

const silent: Telemetry = {
  measure: () => undefined,
  lasted: () => undefined,
  made: () => undefined,
  span: (_name, _of, _attributes, run) => run(),
};
