import { type ObjectReference, referenceOf } from '../../../shared/kinds/resource.ts';
import type { Again } from '../controller/work-queue.ts';
import { withoutFinalizer } from '../controller/write.ts';
import { nextForContent, type Refusal } from './content-step.ts';
import { faultOf, type SnapshotFaultRule } from './faults.ts';
import { finalizer, VolumeSnapshotContent } from './kinds.ts';
import type { World } from './world.ts';

interface SidecarOptions {
  cutMs: number;
  readyMs: number;
  faults: readonly SnapshotFaultRule[];
  drivers: readonly string[];
}

/** What the sidecar remembers of a content, by uid. */
interface Memory {
  cuttingSinceMs: number;
  refusals: number;
  readySinceMs?: number;
}

/** Looks at one content on behalf of its driver and brings it a step further; throws what has to be tried again. */
export function contentSidecar(world: World, options: SidecarOptions) {
  const { kube, clock, perform } = world;
  const { faults, drivers } = options;
  const memories = new Map<string, Memory>();

  return async (ref: ObjectReference): Promise<Again> => {
    const content = world.contents.find(ref);
    if (!content || !drivers.includes(content.spec.driver)) return undefined;
    const names = namesOf(content);
    if (faultOf(faults, names, 'driverMismatch')) return undefined;
    const memory = memories.get(content.metadata.uid) ?? { cuttingSinceMs: clock.now(), refusals: 0 };
    memories.set(content.metadata.uid, memory);
    const step = nextForContent(observe(content, names, memory));
    await perform(step.writes);
    if (step.failure) {
      memory.refusals++;
      throw new Error(step.failure);
    }
    const lost = faultOf(faults, names, 'contentDeleted');
    if (lost && content.status?.readyToUse) return lose(content, memory, lost.afterMs ?? 0);
    if (step.waitMs !== undefined) return { requeueAfterMs: step.waitMs };
    return step.writes.length > 0 ? { holdMs: 0 } : undefined;
  };

  function namesOf({ spec }: VolumeSnapshotContent): [string, string] {
    const snapshot = world.snapshots.find(spec.volumeSnapshotRef);
    return [spec.volumeSnapshotRef.name, snapshot?.spec.source.persistentVolumeClaimName ?? ''];
  }

  function observe(content: VolumeSnapshotContent, names: [string, string], memory: Memory) {
    const { namespace } = content.spec.volumeSnapshotRef;
    const slowly = faultOf(faults, names, 'slowReady')?.readyMs ?? options.readyMs;
    return {
      content,
      claim: world.claims.find({ namespace, name: names[1] }),
      cuttingSinceMs: memory.cuttingSinceMs,
      cutMs: options.cutMs,
      readyMs: faultOf(faults, names, 'neverReady') ? undefined : slowly,
      refusedBy: refusedBy(names, memory),
      nowMs: clock.now(),
    };
  }

  function refusedBy(names: [string, string], { refusals }: Memory): Refusal | undefined {
    if (faultOf(faults, names, 'noCredentials')) return 'noCredentials';
    return refusals < (faultOf(faults, names, 'csiError', 'errorLingers')?.times ?? 0) ? 'csiError' : undefined;
  }

  async function lose(content: VolumeSnapshotContent, memory: Memory, afterMs: number): Promise<Again> {
    if (content.metadata.deletionTimestamp) return undefined;
    memory.readySinceMs ??= clock.now();
    const restMs = memory.readySinceMs + afterMs - clock.now();
    if (restMs > 0) return { requeueAfterMs: restMs };
    if (content.metadata.finalizers?.includes(finalizer.content))
      await perform([withoutFinalizer(VolumeSnapshotContent, content, finalizer.content)]);
    await kube.delete(VolumeSnapshotContent, referenceOf(content), { uid: content.metadata.uid });
    return undefined;
  }
}
