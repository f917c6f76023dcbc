import { keyOf, type ObjectReference, referenceOf } from '../../../shared/kinds/resource.ts';
import { delay } from '../clock.ts';
import { type Claim, ConfigMap, claimsOf, Pod } from '../controller/kinds.ts';
import type { Again } from '../controller/work-queue.ts';
import { statusOf, withoutFinalizer } from '../controller/write.ts';
import type { KeyPair } from '../object-store/sigv4.ts';
import { nextBackOff, type RestartHistory } from './back-off.ts';
import { endOfClonePod } from './clone-pods.ts';
import type { CdiContext } from './context.ts';
import { credentialsIn } from './credentials.ts';
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

/** The simulated node: its pods, and what the kubelet knows of them. */
interface Node extends CdiContext {
  wake(ref: ObjectReference): void;
  lives: Map<string, Life>;
  /** How many runs into each claim came to an end of their own, by uid. */
  runs: Map<string, number>;
}

/** Simulates kubelet and scheduler for pods that name the simulated scheduler: starts, restarts and ends them, and sets their status. */
export function kubelet(context: CdiContext, wake: (ref: ObjectReference) => void): Kubelet {
  const node: Node = { ...context, wake, lives: new Map(), runs: new Map() };
  return {
    reconcile: (ref) => reconcile(node, ref),
    progressOf: (ref) => node.lives.get(keyOf(ref))?.progress,
    async stop() {
      for (const life of node.lives.values()) life.abort.abort();
      await Promise.all([...node.lives.values()].map((life) => life.run));
    },
  };
}

async function reconcile(node: Node, ref: ObjectReference): Promise<Again> {
  const pod = node.pods.find(ref);
  const life = node.lives.get(keyOf(ref));
  if (life && life.uid !== pod?.metadata.uid) await end(node, ref, life);
  if (!pod || pod.spec.schedulerName !== simulatedScheduler) return undefined;
  const current = node.lives.get(keyOf(ref)) ?? begin(node, ref, pod);
  if (pod.metadata.deletionTimestamp) return terminate(node, ref, pod, current);
  switch (pod.status?.phase ?? 'Pending') {
    case 'Pending':
      return pod.status?.containerStatuses.length ? start(node, ref, pod, current) : schedule(node, pod, current);
    case 'Running':
      return keepRunning(node, ref, pod, current);
    default:
      return undefined;
  }
}

function begin(node: Node, ref: ObjectReference, pod: Pod): Life {
  const life: Life = { uid: pod.metadata.uid, abort: new AbortController(), startedMs: 0, history: { failures: 0 } };
  node.lives.set(keyOf(ref), life);
  return life;
}

async function end(node: Node, ref: ObjectReference, life: Life) {
  life.abort.abort();
  await life.run;
  node.lives.delete(keyOf(ref));
}

async function schedule(node: Node, pod: Pod, life: Life): Promise<Again> {
  const name = nameOf(node, pod);
  const rule = name && node.faults.inject(life.uid, name, 'unschedulable');
  life.unschedulableUntilMs ??= node.clock.now() + (rule?.forMs ?? 0);
  const restMs = life.unschedulableUntilMs - node.clock.now();
  if (restMs > 0) {
    if (!pod.status?.conditions.length) await say(node, pod, unschedulable(node.clock.now()));
    return { requeueAfterMs: restMs };
  }
  await say(node, pod, waiting(pod, 'ContainerCreating', undefined, node.clock.now()));
  return { holdMs: node.timings.containerMs };
}

async function start(node: Node, ref: ObjectReference, pod: Pod, life: Life): Promise<Again> {
  const { namespace } = ref;
  const claims = claimsOf(pod).map((name) => node.claims.find({ namespace, name }));
  if (!claims.every((claim) => claim?.status?.phase === 'Bound')) return undefined;
  const { secret, certConfigMap } = importOf(pod);
  // Only an Event reports a folder that cannot be mounted.
  if (certConfigMap && !(await node.kube.get(ConfigMap, { namespace, name: certConfigMap })))
    return { requeueAfterMs: node.timings.secretPollMs };
  const wait = async (reason: string, message: string): Promise<Again> => {
    const shown = pod.status?.containerStatuses[0]?.state?.waiting;
    if (shown?.reason !== reason || shown.message !== message)
      await say(node, pod, waiting(pod, reason, message, node.clock.now()));
    return { requeueAfterMs: node.timings.secretPollMs };
  };
  const pulling = pullProblem(node, pod, life);
  if (pulling) return wait('ErrImagePull', pulling);
  const found = secret ? await credentialsIn(node.kube, { namespace, name: secret }) : undefined;
  if (typeof found === 'string') return wait('CreateContainerConfigError', found);
  return launch(node, ref, pod, life, claims[0], found);
}

function pullProblem(node: Node, pod: Pod, life: Life): string | undefined {
  const name = nameOf(node, pod);
  const rule = name && node.faults.inject(life.uid, name, 'imagePull');
  life.imageMissingUntilMs ??= node.clock.now() + (rule?.forMs ?? 0);
  const image = pod.spec.containers[0]?.image ?? '';
  return life.imageMissingUntilMs > node.clock.now()
    ? `failed to pull and unpack image "${image}": not found`
    : undefined;
}

async function launch(
  node: Node,
  ref: ObjectReference,
  pod: Pod,
  life: Life,
  filled: Claim | undefined,
  credentials: KeyPair | undefined,
): Promise<Again> {
  if (!filled) return undefined;
  await say(node, pod, running(pod, node.clock.now()));
  const name = nameOf(node, pod);
  const occasion = `${filled.metadata.uid} ${node.runs.get(filled.metadata.uid) ?? 0}`;
  const fault = name && node.faults.inject(occasion, name, 'stall', 'evicted', 'drained', 'oom', 'killed');
  let drained = false;
  const drain = () => {
    if (!drained) void node.kube.delete(Pod, ref, { uid: life.uid }).catch(() => undefined);
    drained = true;
  };
  Object.assign(life, { startedMs: node.clock.now(), restartAtMs: undefined, end: undefined, progress: undefined });
  const ofClone = endOfClonePod(pod);
  const run = ofClone
    ? delay(node.clock, ofClone.message ? node.timings.hostCopyMs : 0, life.abort.signal).then(() => ({
        termination: ofClone,
      }))
    : runImporter({
        ...importOf(pod),
        credentials,
        capacityBytes: usableBytes(filled),
        signal: life.abort.signal,
        clock: node.clock,
        importImage: node.importImage,
        conversionMs: node.timings.conversionMs,
        otherSourceMs: node.timings.otherSourceMs,
        fault: fault && { mode: fault.mode, at: shareOf(fault) },
        oldScratch: name !== undefined && node.faults.inject(occasion, name, 'oldScratch') !== undefined,
        onProgress: (progress) => {
          life.progress = progress;
        },
        drain,
      });
  life.run = run.then(
    (ended) => {
      if (!isScratchRequest(ended)) node.runs.set(filled.metadata.uid, (node.runs.get(filled.metadata.uid) ?? 0) + 1);
      life.end = ended;
      node.wake(ref);
    },
    (error) => {
      if (life.abort.signal.aborted) return;
      life.end = { termination: { exitCode: 1, reason: 'Error', message: String(error) } };
      node.wake(ref);
    },
  );
  return undefined;
}

async function keepRunning(node: Node, ref: ObjectReference, pod: Pod, life: Life): Promise<Again> {
  if (life.end) return conclude(node, pod, life, life.end);
  const state = pod.status?.containerStatuses[0]?.state;
  if (state?.terminated?.exitCode === 0) return void (await say(node, pod, over(pod, node.clock.now())));
  if (life.run && life.restartAtMs === undefined) return undefined;
  if (!life.run && state?.running) return lose(node, pod, life, state.running.startedAt);
  // Without memory of when its container ended, as after a restart of the node, it starts at once.
  const restMs = (life.restartAtMs ?? 0) - node.clock.now();
  if (restMs <= 0) return start(node, ref, pod, life);
  if (state?.terminated) await say(node, pod, crashLooping(pod, restMs, node.clock.now()));
  return { requeueAfterMs: restMs };
}

/** A container that another life of this node has started went with it; containerd says of such no more than this. */
function lose(node: Node, pod: Pod, life: Life, startedAt = ''): Promise<Again> {
  life.startedMs = Date.parse(startedAt) || node.clock.now();
  return conclude(node, pod, life, { termination: { exitCode: 255, reason: 'Unknown', message: '' } });
}

async function conclude(node: Node, pod: Pod, life: Life, ended: End): Promise<Again> {
  const now = node.clock.now();
  if ('evicted' in ended) await say(node, pod, evicted(pod, life.startedMs, now));
  else await say(node, pod, terminated(pod, ended.termination, life.startedMs, now));
  const { history, backOffMs } = nextBackOff(life.history, now - life.startedMs, node.timings.restartScale);
  Object.assign(life, {
    end: undefined,
    history,
    progress: undefined,
    restartAtMs: now + node.timings.containerMs + backOffMs,
  });
  const isDone = 'termination' in ended && ended.termination.exitCode === 0;
  return { holdMs: isDone ? node.timings.podPhaseMs : node.timings.containerMs };
}

async function terminate(node: Node, ref: ObjectReference, pod: Pod, life: Life): Promise<Again> {
  const container = pod.status?.containerStatuses[0];
  const isAlive = life.run !== undefined && life.end === undefined && container?.state?.running !== undefined;
  life.killAtMs ??= node.clock.now() + (isAlive ? node.timings.podGraceMs : container ? node.timings.podPhaseMs : 0);
  const restMs = life.killAtMs - node.clock.now();
  if (restMs > 0 && !life.end) return { requeueAfterMs: restMs };
  const last = ended(pod, life.end && 'termination' in life.end ? life.end.termination : undefined, node.clock.now());
  await end(node, ref, life);
  if (last) await say(node, pod, last);
  const left = node.pods.find(ref);
  if (left?.metadata.finalizers?.includes(kubeletFinalizer))
    await node.perform([withoutFinalizer(Pod, left, kubeletFinalizer)]);
  return undefined;
}

const say = (node: Node, pod: Pod, status: object) => node.perform([statusOf(Pod, pod, status)]);

function nameOf(node: Node, pod: Pod): ImportName | undefined {
  if (endOfClonePod(pod)) return undefined;
  const { namespace } = referenceOf(pod);
  const filled = node.claims.find({ namespace, name: claimsOf(pod)[0] ?? '' });
  return filled && node.importNameOf(filled);
}

const shareOf = (rule: FaultRule) => ('at' in rule ? (rule.at ?? 0.5) : 0.5);
