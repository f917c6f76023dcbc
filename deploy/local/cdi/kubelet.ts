import { keyOf, type ObjectReference, referenceOf } from '../../../shared/kinds/resource.ts';
import { delay } from '../clock.ts';
import { type Claim, ConfigMap, claimsOf, Pod } from '../controller/kinds.ts';
import type { Again } from '../controller/work-queue.ts';
import { statusOf, withoutFinalizer } from '../controller/write.ts';
import { nextBackOff, type RestartHistory } from './back-off.ts';
import { endOfClonePod } from './clone-pods.ts';
import type { CdiContext } from './context.ts';
import { type Credentials, credentialsIn } from './credentials.ts';
import type { FaultRule, ImportName } from './faults.ts';
import { importOf, kubeletFinalizer, simulatedScheduler, usableBytes } from './importer-pod.ts';
import { type End, isScratchRequest, runImporter } from './importer-run.ts';
import { crashLooping, ended, evicted, over, running, terminated, unschedulable, waiting } from './pod-status.ts';

/** What the kubelet knows of a pod beyond what stands in its status. */
interface Life {
  uid: string;
  abort: AbortController;
  /** The run of its container, while there is one. */
  run?: Promise<void>;
  end?: End | undefined;
  startedMs: number;
  progress?: string | undefined;
  history: RestartHistory;
  /** When it starts again. */
  restartAtMs?: number | undefined;
  /** When it is killed. */
  killAtMs?: number;
  unschedulableUntilMs?: number;
  imageMissingUntilMs?: number;
}

interface Kubelet {
  reconcile(ref: ObjectReference): Promise<Again>;
  progressOf(pod: ObjectReference): string | undefined;
  /** Ends all containers and resolves when they have ended. */
  stop(): Promise<void>;
}

/** Simulates kubelet and scheduler for pods that name the simulated scheduler: starts, restarts and ends them, and sets their status. */
export function kubelet(context: CdiContext, wake: (ref: ObjectReference) => void): Kubelet {
  const { kube, clock, timings, faults } = context;
  const lives = new Map<string, Life>();
  /** How many runs into each claim came to an end of their own, by uid. */
  const runs = new Map<string, number>();

  async function reconcile(ref: ObjectReference): Promise<Again> {
    const pod = context.pods.find(ref);
    const life = lives.get(keyOf(ref));
    if (life && life.uid !== pod?.metadata.uid) await end(ref, life);
    if (!pod || pod.spec.schedulerName !== simulatedScheduler) return undefined;
    const current = lives.get(keyOf(ref)) ?? begin(ref, pod);
    if (pod.metadata.deletionTimestamp) return terminate(ref, pod, current);
    switch (pod.status?.phase ?? 'Pending') {
      case 'Pending':
        return pod.status?.containerStatuses.length ? start(ref, pod, current) : schedule(pod, current);
      case 'Running':
        return keepRunning(ref, pod, current);
      default:
        return undefined;
    }
  }

  function begin(ref: ObjectReference, pod: Pod): Life {
    const life: Life = { uid: pod.metadata.uid, abort: new AbortController(), startedMs: 0, history: { failures: 0 } };
    lives.set(keyOf(ref), life);
    return life;
  }

  async function end(ref: ObjectReference, life: Life) {
    life.abort.abort();
    await life.run;
    lives.delete(keyOf(ref));
  }

  async function schedule(pod: Pod, life: Life): Promise<Again> {
    const name = nameOf(pod);
    const rule = name && faults.inject(life.uid, name, 'unschedulable');
    life.unschedulableUntilMs ??= clock.now() + (rule?.forMs ?? 0);
    const restMs = life.unschedulableUntilMs - clock.now();
    if (restMs > 0) {
      if (!pod.status?.conditions.length) await say(pod, unschedulable(clock.now()));
      return { requeueAfterMs: restMs };
    }
    await say(pod, waiting(pod, 'ContainerCreating', undefined, clock.now()));
    return { holdMs: timings.containerMs };
  }

  async function start(ref: ObjectReference, pod: Pod, life: Life): Promise<Again> {
    const { namespace } = ref;
    const claims = claimsOf(pod).map((name) => context.claims.find({ namespace, name }));
    if (!claims.every((claim) => claim?.status?.phase === 'Bound')) return undefined;
    const { secret, certConfigMap } = importOf(pod);
    // Only an Event reports a folder that cannot be mounted.
    if (certConfigMap && !(await kube.get(ConfigMap, { namespace, name: certConfigMap })))
      return { requeueAfterMs: timings.secretPollMs };
    const wait = async (reason: string, message: string): Promise<Again> => {
      const shown = pod.status?.containerStatuses[0]?.state?.waiting;
      if (shown?.reason !== reason || shown.message !== message)
        await say(pod, waiting(pod, reason, message, clock.now()));
      return { requeueAfterMs: timings.secretPollMs };
    };
    const pulling = pullProblem(pod, life);
    if (pulling) return wait('ErrImagePull', pulling);
    const found = secret ? await credentialsIn(kube, { namespace, name: secret }) : undefined;
    if (typeof found === 'string') return wait('CreateContainerConfigError', found);
    return launch(ref, pod, life, claims[0], found);
  }

  function pullProblem(pod: Pod, life: Life): string | undefined {
    const name = nameOf(pod);
    const rule = name && faults.inject(life.uid, name, 'imagePull');
    life.imageMissingUntilMs ??= clock.now() + (rule?.forMs ?? 0);
    const image = pod.spec.containers[0]?.image ?? '';
    return life.imageMissingUntilMs > clock.now() ? `failed to pull and unpack image "${image}": not found` : undefined;
  }

  async function launch(
    ref: ObjectReference,
    pod: Pod,
    life: Life,
    filled: Claim | undefined,
    credentials: Credentials | undefined,
  ): Promise<Again> {
    if (!filled) return undefined;
    await say(pod, running(pod, clock.now()));
    const name = nameOf(pod);
    const occasion = `${filled.metadata.uid} ${runs.get(filled.metadata.uid) ?? 0}`;
    const fault = name && faults.inject(occasion, name, 'stall', 'evicted', 'drained', 'oom', 'killed');
    let drained = false;
    const drain = () => {
      if (!drained) void kube.delete(Pod, ref, { uid: life.uid }).catch(() => undefined);
      drained = true;
    };
    Object.assign(life, { startedMs: clock.now(), restartAtMs: undefined, end: undefined, progress: undefined });
    const ofClone = endOfClonePod(pod);
    const run = ofClone
      ? delay(clock, ofClone.message ? timings.hostCopyMs : 0, life.abort.signal).then(() => ({ termination: ofClone }))
      : runImporter({
          ...importOf(pod),
          credentials,
          capacityBytes: usableBytes(filled),
          signal: life.abort.signal,
          clock,
          importImage: context.importImage,
          conversionMs: timings.conversionMs,
          otherSourceMs: timings.otherSourceMs,
          fault: fault && { mode: fault.mode, at: shareOf(fault) },
          oldScratch: name !== undefined && faults.inject(occasion, name, 'oldScratch') !== undefined,
          onProgress: (progress) => {
            life.progress = progress;
          },
          drain,
        });
    life.run = run.then(
      (ended) => {
        if (!isScratchRequest(ended)) runs.set(filled.metadata.uid, (runs.get(filled.metadata.uid) ?? 0) + 1);
        life.end = ended;
        wake(ref);
      },
      (error) => {
        if (life.abort.signal.aborted) return;
        life.end = { termination: { exitCode: 1, reason: 'Error', message: String(error) } };
        wake(ref);
      },
    );
    return undefined;
  }

  async function keepRunning(ref: ObjectReference, pod: Pod, life: Life): Promise<Again> {
    if (life.end) return conclude(pod, life, life.end);
    const state = pod.status?.containerStatuses[0]?.state;
    if (state?.terminated?.exitCode === 0) return void (await say(pod, over(pod, clock.now())));
    if (life.run && life.restartAtMs === undefined) return undefined;
    if (!life.run && state?.running) return lose(pod, life, state.running.startedAt);
    // Without memory of when its container ended, as after a restart of the node, it starts at once.
    const restMs = (life.restartAtMs ?? 0) - clock.now();
    if (restMs <= 0) return start(ref, pod, life);
    if (state?.terminated) await say(pod, crashLooping(pod, restMs, clock.now()));
    return { requeueAfterMs: restMs };
  }

  /** A container that another life of this node has started went with it; containerd says of such no more than this. */
  function lose(pod: Pod, life: Life, startedAt = ''): Promise<Again> {
    life.startedMs = Date.parse(startedAt) || clock.now();
    return conclude(pod, life, { termination: { exitCode: 255, reason: 'Unknown', message: '' } });
  }

  async function conclude(pod: Pod, life: Life, ended: End): Promise<Again> {
    const now = clock.now();
    if ('evicted' in ended) await say(pod, evicted(pod, life.startedMs, now));
    else await say(pod, terminated(pod, ended.termination, life.startedMs, now));
    const { history, backOffMs } = nextBackOff(life.history, now - life.startedMs, timings.restartScale);
    Object.assign(life, {
      end: undefined,
      history,
      progress: undefined,
      restartAtMs: now + timings.containerMs + backOffMs,
    });
    const isDone = 'termination' in ended && ended.termination.exitCode === 0;
    return { holdMs: isDone ? timings.podPhaseMs : timings.containerMs };
  }

  async function terminate(ref: ObjectReference, pod: Pod, life: Life): Promise<Again> {
    const container = pod.status?.containerStatuses[0];
    const isAlive = life.run !== undefined && life.end === undefined && container?.state?.running !== undefined;
    life.killAtMs ??= clock.now() + (isAlive ? timings.podGraceMs : container ? timings.podPhaseMs : 0);
    const restMs = life.killAtMs - clock.now();
    if (restMs > 0 && !life.end) return { requeueAfterMs: restMs };
    const last = ended(pod, life.end && 'termination' in life.end ? life.end.termination : undefined, clock.now());
    await end(ref, life);
    if (last) await say(pod, last);
    const left = context.pods.find(ref);
    if (left?.metadata.finalizers?.includes(kubeletFinalizer))
      await context.perform([withoutFinalizer(Pod, left, kubeletFinalizer)]);
    return undefined;
  }

  const say = (pod: Pod, status: object) => context.perform([statusOf(Pod, pod, status)]);

  function nameOf(pod: Pod): ImportName | undefined {
    if (endOfClonePod(pod)) return undefined;
    const { namespace } = referenceOf(pod);
    const filled = context.claims.find({ namespace, name: claimsOf(pod)[0] ?? '' });
    return filled && context.importNameOf(filled);
  }

  return {
    reconcile,
    progressOf: (ref) => lives.get(keyOf(ref))?.progress,
    async stop() {
      for (const life of lives.values()) life.abort.abort();
      await Promise.all([...lives.values()].map((life) => life.run));
    },
  };
}

const shareOf = (rule: FaultRule) => ('at' in rule ? (rule.at ?? 0.5) : 0.5);
