import type { ClusterState } from '../../../deploy/local/api-server/cluster-state.ts';
import { seeded } from '../../../deploy/local/seeded.ts';
import { loadFunctions } from '../../../knative/functions.ts';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import { imageUidLabel, isFinished, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { History } from '../invariants/history.ts';
import { auditMs, sweepMs } from './broker.ts';
import { everythingIn, startCluster, type Thinness } from './cluster.ts';
import { Faults } from './faults.ts';
import { isLeftOut } from './left-out.ts';
import type { Fault, Plan } from './plan.ts';
import { Recorder } from './recorder.ts';
import { asSeenByClient, kubeOf } from './requests.ts';
import { Scheduler } from './scheduler.ts';
import { SourcesOfImages } from './sources.ts';
import { startSystem } from './start-system.ts';
import { StoreWriter, storeKeys } from './store-writer.ts';
import { uids } from './uids.ts';
import { User } from './user.ts';

/** All functions except dead-letters: lost events are not simulated as dead letters. */
const declarations = (await loadFunctions()).filter(({ name }) => name !== 'dead-letters');

const startMs = Date.parse('2026-01-01T00:00:00Z');

/** A run that is not at rest by then never will be. */
const longestRestMs = 2 * 3600_000;
const mostSteps = 200_000;

/** A change of the functions, to prove that it is noticed. */
export interface Sabotage {
  declarations?(declarations: readonly FunctionDeclaration[]): readonly FunctionDeclaration[];
  through?(kube: Kube, functionName: string): Kube;
  mostInFlight?: number;
  /** Leaves no function out. */
  runsAll?: boolean;
}

/** The result of a run. */
export interface Run {
  history: History;
  /** False if the run was stopped before it came to rest. */
  isAtRest: boolean;
  /** The writes of functions before the faults ended, including refused ones. */
  writes: number;
  /** The events delivered before that. */
  events: number;
  steps: number;
  /** How often each fault was injected. */
  injected: ReadonlyMap<Fault, number>;
}

/**
 * One run: the plan's operations with its faults; then the faults end, and the run continues until nothing is written during two
 * audits. The same plan is the same run; over a thin API server too, unless a write is invalid.
 */
export async function simulate(plan: Plan, sabotage: Sabotage = {}, isThin = false): Promise<Run> {
  const random = seeded(plan.seed);
  const choose = chooser(plan);
  const scheduler = new Scheduler(choose, startMs);
  const state = await startCluster(scheduler, uids(plan.seed), isThin ? thinnessOf(plan) : 'whole', policyOf(plan));
  const faults = new Faults(plan.faults);
  const recorder = new Recorder(state.store, scheduler.now, everythingIn(state, storeKeys.policies, storeKeys.leases));
  const sources = new SourcesOfImages(plan, { scheduler, faults, recorder });
  const around = { state, scheduler, faults, recorder };
  const all = sabotage.declarations?.(declarations) ?? declarations;
  const functions = sabotage.runsAll ? all : all.filter(({ name }) => !isLeftOut(plan, name));
  const broker = startSystem(functions, {
    ...around,
    random,
    readSource: sources.read,
    isDeaf: plan.isDeaf,
    ...(sabotage.through ? { through: sabotage.through } : {}),
    ...(sabotage.mostInFlight ? { mostInFlight: sabotage.mostInFlight } : {}),
  });
  const user = new User(userKube(around), new StoreWriter('user', around), {
    post: (event, signed) => broker.posted(event, '/pipeline', signed),
    replaceSource: (url) => sources.replace(url),
    refresh: plan.refreshes ? { refresh: 'OnChange' } : {},
  });

  await live(plan, { scheduler, recorder, user });
  const [writes, events] = [faults.countOf('write'), faults.countOf('event')];
  faults.heal();
  broker.heal();
  scheduler.heal();
  await recorder.as({ by: 'user' }, () => user.mend());
  recorder.still();
  const hasEnded = () => {
    const images = state.store.list(storeKeys.images);
    const uids = new Set(images.map(({ metadata }) => metadata.uid));
    // An object that belongs to no image is deleted ten minutes after its creation.
    const isOfNone = (uid: string | undefined) => uid !== undefined && !uids.has(uid);
    const children = [storeKeys.dataVolumes, storeKeys.snapshots].flatMap((storeKey) => state.store.list(storeKey));
    return (
      images.every(({ status }) => isFinished((status as VMDiskImage['status'])?.phase)) &&
      children.every(({ metadata }) => !isOfNone(metadata.labels?.[imageUidLabel]))
    );
  };
  const isAtRest = await rest(scheduler, recorder, hasEnded);
  // Steps would otherwise keep timers and signals of the process from running.
  await new Promise<void>((resolve) => setImmediate(resolve));
  return {
    history: recorder.stop({
      sweepMs,
      auditMs,
      skewMs: skewOf(plan),
      isFaultless: plan.faults.length === 0 && !plan.isDeaf,
      sources: sources.known(),
    }),
    isAtRest,
    writes,
    events,
    steps: scheduler.taken,
    injected: faults.injected,
  };
}

const thinnessOf = ({ operations }: Plan): Thinness =>
  operations.some((operation) => operation.do === 'publish') ? 'thin, to publish' : 'thin';

/** A run that inspects sources waits for the inspections a little. */
const policyOf = ({ sources }: Plan): Record<string, string> => (sources ? { inspectTimeout: '10s' } : {});

/** The largest difference between two clocks of functions, or between two times of one; a correct clock shows whole seconds. */
function skewOf({ faults }: Plan): number {
  const seconds = faults.map((fault) => (fault.kind === 'skew' || fault.kind === 'clockJump' ? fault.seconds : 0));
  const [ahead, behind] = [seconds.filter((one) => one > 0), seconds.filter((one) => one < 0)];
  const sum = (some: readonly number[]) => some.reduce((all, one) => all + one, 0);
  return (sum(ahead) - sum(behind)) * 1000 + 1000;
}

function userKube({ state, recorder }: { state: ClusterState; recorder: Recorder }) {
  return kubeOf(state, 'user', (_request, run) =>
    recorder.as({ by: 'user' }, async () => {
      try {
        return await run();
      } catch (error) {
        throw asSeenByClient(error);
      }
    }),
  );
}

/** The next step by the plan: as placed exactly, else at random in its share, else the one that waited longest. */
function chooser({ order, overtakings }: Plan) {
  const random = seeded(order.seed);
  const placed = new Map(overtakings.map(({ at, by }) => [at, by]));
  let taken = 0;
  return (among: number) => {
    const by = placed.get(taken++);
    if (by !== undefined) return by % among;
    return order.share > 0 && random() < order.share ? Math.floor(random() * among) : 0;
  };
}

/** Until all operations are done and the faults lasted long enough; their consequences may still be in progress. */
async function live(
  { operations, troubleSeconds }: Plan,
  { scheduler, recorder, user }: { scheduler: Scheduler; recorder: Recorder; user: User },
): Promise<void> {
  let isOver = false;
  const next = (index: number) => {
    const operation = operations[index];
    if (!operation) {
      scheduler.after(troubleSeconds * 1000, () => {
        isOver = true;
      });
      return;
    }
    const carryOut = async () => {
      await recorder.as({ by: 'user' }, () => user.carryOut(operation));
      next(index + 1);
    };
    if (operation.seconds > 0) scheduler.after(operation.seconds * 1000, carryOut);
    else scheduler.add(carryOut);
  };
  next(0);
  while (!isOver && scheduler.taken < mostSteps) await scheduler.next();
}

/**
 * Until two audits have written nothing, and longer for an unfinished image: what it waits for may still come. False if writing
 * never stops.
 */
async function rest(scheduler: Scheduler, recorder: Recorder, hasEnded: () => boolean): Promise<boolean> {
  const fromMs = scheduler.now();
  let [written, writtenMs] = [recorder.length, fromMs];
  while (scheduler.taken < mostSteps && scheduler.now() - fromMs < longestRestMs) {
    await scheduler.next();
    if (recorder.length !== written) [written, writtenMs] = [recorder.length, scheduler.now()];
    const silentMs = scheduler.now() - writtenMs;
    if (scheduler.isIdle && silentMs > silenceMs && (silentMs > longestWaitMs || hasEnded())) return true;
  }
  return false;
}

/** Two audits and a margin. */
const silenceMs = 2 * auditMs + 10_000;
/** The longest wait of an image by the policy: three attempts, a snapshot and all between them (L3). */
const longestWaitMs = 15 * 60_000;
