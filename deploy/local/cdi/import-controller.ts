import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { Claim, Pod } from '../controller/kinds.ts';
import { controllerOf } from '../controller/owner.ts';
import type { Again } from '../controller/work-queue.ts';
import type { EventText, Write } from '../controller/write.ts';
import { annotation } from './annotation.ts';
import { scratchName } from './claims.ts';
import type { CdiContext } from './context.ts';
import type { ImportName } from './faults.ts';
import { nextForImport } from './import-step.ts';
import { importerPodName } from './importer-pod.ts';
import { isQuotaExceeded, quotaExceeded } from './quota.ts';

/** Brings the import into one claim one write further. */
export async function reconcileImport(context: CdiContext, ref: ObjectReference): Promise<Again> {
  const { claims, pods, timings } = context;
  const filled = claims.find(ref);
  if (filled?.metadata.annotations?.[annotation.source] === undefined) return undefined;
  const name = context.importNameOf(filled);
  const downMs = context.downForMs(filled.metadata.namespace, name);
  if (downMs > 0) return { requeueAfterMs: downMs };
  const { namespace } = filled.metadata;
  const pod = pods.find({ namespace, name: importerPodName(filled) });
  const scratch = claims.find({ namespace, name: scratchName(filled) });
  const labels = labelsOfTarget(context, filled);
  // CDI copies the labels of the target to the Pod, and fails without it (createImporterPod).
  if (!pod && !labels) return undefined;
  const writes = nextForImport({
    filled,
    pod,
    scratch,
    labels: labels ?? {},
    seen: pod && name && clouded(context, name, filled, pod),
  });
  const restMs = writes.some((write) => write.do === 'create' && write.resource === Pod)
    ? untilNextPod(context, filled)
    : 0;
  if (restMs > 0) return { requeueAfterMs: restMs };
  await performWithinQuota(context, filled, name, writes);
  if (writes.length > 0) return { holdMs: timings.tickMs };
  return pod && context.flaps.has(pod.metadata.uid) ? { requeueAfterMs: flapMs(timings) } : undefined;
}

function untilNextPod({ times, timings }: CdiContext, { metadata }: Claim): number {
  if (metadata.annotations?.[annotation.requiresScratch] !== 'true') return 0;
  return timings.nextPodMs - times.msIn(`${metadata.uid} without its first pod`);
}

/** Performs writes about a claim that is being filled. The claim beside it shows the newest Event. */
async function performWithinQuota(context: CdiContext, filled: Claim, name: ImportName | undefined, writes: Write[]) {
  const { clock, faults, perform } = context;
  try {
    const makesScratch = writes.some((write) => write.do === 'create' && write.resource === Claim);
    // Each try is counted by itself.
    if (makesScratch && name && faults.inject(`${clock.now()}`, name, 'scratchQuota'))
      throw quotaExceeded(scratchName(filled));
    await perform(writes);
    for (const write of writes) if (write.do === 'event') note(context, filled, write);
  } catch (error) {
    if (!isQuotaExceeded(error)) throw error;
    const text: EventText = { type: 'Warning', reason: 'ErrExceededQuota', message: error.message };
    await perform([{ do: 'event', about: filled, from: 'import-controller', ...text }]);
    note(context, filled, text);
    throw error;
  }
}

function note({ notes, wakeOwner }: CdiContext, filled: Claim, { type, reason, message }: EventText) {
  notes.set(filled.metadata.uid, { type, reason, message });
  wakeOwner(filled);
}

/** Undefined if the claim that the DataVolume owns is gone. */
function labelsOfTarget({ claims }: CdiContext, filled: Claim): Record<string, string> | undefined {
  const owner = controllerOf(filled);
  if (owner?.kind !== Claim.kind) return filled.metadata.labels ?? {};
  const target = claims.find({ namespace: filled.metadata.namespace, name: owner.name });
  return target && (target.metadata.labels ?? {});
}

/** The pod as a controller sees it that looks at the wrong moment. */
function clouded(context: CdiContext, name: ImportName, filled: Claim, pod: Pod): Pod | undefined {
  const { faults } = context;
  const status = pod.status?.containerStatuses[0];
  if (!pod.status || !status) return undefined;
  const { uid } = pod.metadata;
  const terminated = status.state?.terminated;
  if (terminated && terminated.exitCode > 0 && terminated.exitCode !== 42) {
    const missed = faults.inject(`${uid} ${status.restartCount}`, name, 'missedTerminated');
    if (missed)
      return { ...pod, status: { ...pod.status, containerStatuses: [{ ...status, state: { running: {} } }] } };
  }
  return flapping(context, name, filled, pod) ? { ...pod, status: { ...pod.status, phase: 'Pending' } } : undefined;
}

/** Some time after its claim has said Running, the pod looks for some time as if it were still to start. */
function flapping(
  { faults, flaps, clock, timings }: CdiContext,
  name: ImportName,
  filled: Claim,
  { metadata: { uid }, status }: Pod,
) {
  const shown = filled.metadata.annotations?.[annotation.podPhase];
  if (status?.phase !== 'Running' || (shown !== 'Running' && !flaps.has(uid))) return false;
  if (!faults.inject(uid, name, 'flap')) return false;
  const flap = flaps.get(uid) ?? { sinceMs: clock.now() };
  flaps.set(uid, flap);
  if (clock.now() - flap.sinceMs < flapMs(timings)) return false;
  flap.backMs ??= clock.now();
  return clock.now() - flap.backMs < flapMs(timings);
}

const flapMs = ({ tickMs }: CdiContext['timings']) => 20 * tickMs;
