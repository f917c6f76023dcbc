import { keyOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshotClass } from '../../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { classFor } from '../cdi/storage-profile.ts';
import { Claim } from '../controller/kinds.ts';
import type { Again } from '../controller/work-queue.ts';
import { contentName, snapshotAnnotation, type VolumeSnapshot, VolumeSnapshotContent } from './kinds.ts';
import type { ObservedSnapshot } from './snapshot-observed.ts';
import { nextForSnapshot, releaseOf } from './snapshot-step.ts';
import type { World } from './world.ts';

/** Looks at one VolumeSnapshot and brings it a step further; throws what has to be tried again. */
export function snapshotController(world: World, contentMs: number) {
  const paused = new Set<string>();
  const claimOf = new Map<string, string>();
  return async (ref: ObjectReference): Promise<Again> => {
    const snapshot = world.snapshots.find(ref);
    if (!snapshot) return void (await world.perform(releaseOf(freeClaim(world, ref, claimOf.get(keyOf(ref))))));
    claimOf.set(keyOf(ref), snapshot.spec.source.persistentVolumeClaimName ?? '');
    if (!world.contents.find({ name: contentName(snapshot) })) await refresh(world, snapshot);
    const { writes, failure } = nextForSnapshot(observe(world, snapshot, world.clock.now()));
    const makesContent = writes.some((write) => write.do === 'create' && write.resource === VolumeSnapshotContent);
    if (makesContent && !paused.has(snapshot.metadata.uid)) {
      paused.add(snapshot.metadata.uid);
      return { holdMs: contentMs };
    }
    paused.delete(snapshot.metadata.uid);
    await world.perform(writes);
    if (failure) throw new Error(failure);
    return writes.length > 0 ? { holdMs: 0 } : undefined;
  };
}

/** Looks at claim and class themselves before a snapshot fails for them: what was seen of them may be older than the snapshot. */
async function refresh({ kube, claims, classes }: World, { metadata, spec }: VolumeSnapshot) {
  const { volumeSnapshotClassName: className, source } = spec;
  const claimName = source.persistentVolumeClaimName;
  const claim = claimName && (await kube.get(Claim, { namespace: metadata.namespace, name: claimName }));
  if (claim) claims.learn(claim);
  const snapshotClass = className && (await kube.get(VolumeSnapshotClass, { name: className }));
  if (snapshotClass) classes.learn(snapshotClass);
}

const isTakenFrom = (snapshot: VolumeSnapshot, namespace: string | undefined, claim: string) =>
  snapshot.metadata.namespace === namespace &&
  snapshot.spec.source.persistentVolumeClaimName === claim &&
  !snapshot.status?.readyToUse;

function freeClaim({ snapshots, claims }: World, { namespace }: ObjectReference, name: string | undefined) {
  if (!name || [...snapshots.objects.values()].some((one) => isTakenFrom(one, namespace, name))) return undefined;
  return claims.find({ namespace, name });
}

function observe(world: World, snapshot: VolumeSnapshot, nowMs: number): ObservedSnapshot {
  const { namespace, uid, name } = snapshot.metadata;
  const { source, volumeSnapshotClassName } = snapshot.spec;
  const claim = world.claims.find({ namespace, name: source.persistentVolumeClaimName ?? '' });
  const driver = claim && classFor(claim.spec.storageClassName, world.storageClasses.objects.values())?.provisioner;
  const others = [...world.snapshots.objects.values()].filter((one) => one.metadata.uid !== uid);
  return {
    snapshot,
    content: world.contents.find({ name: contentName(snapshot) }),
    claim,
    snapshotClass: world.classes.find({ name: volumeSnapshotClassName ?? '' }),
    defaultClasses: [...world.classes.objects.values()].filter(
      (one) => one.driver === driver && one.metadata.annotations?.[snapshotAnnotation.isDefaultClass] === 'true',
    ),
    isClaimNeeded: claim !== undefined && others.some((one) => isTakenFrom(one, namespace, claim.metadata.name)),
    isBeingRestored: [...world.claims.objects.values()].some(({ metadata, spec, status }) => {
      const from = spec.dataSource ?? spec.dataSourceRef;
      const isFromThis = metadata.namespace === namespace && from?.kind === 'VolumeSnapshot' && from.name === name;
      return isFromThis && (status?.phase ?? 'Pending') === 'Pending';
    }),
    nowMs,
  };
}
