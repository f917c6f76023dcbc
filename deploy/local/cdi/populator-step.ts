import { Claim, PersistentVolume, type VolumeImportSource } from '../controller/kinds.ts';
import { type EventText, eventsFrom, patchOf, removalOf, type Write } from '../controller/write.ts';
import { annotation, annotationsPatch } from './annotation.ts';
import { bindsAtOnce, primeClaimFor } from './claims.ts';
import { lost, rebound } from './volume.ts';

interface ObservedTarget {
  clusterBinds: boolean;
  target: Claim;
  prime: Claim | undefined;
  importSource: VolumeImportSource | undefined;
  waitsForConsumer: boolean;
  /** The newest event about prime. */
  primeEvent: EventText | undefined;
  /** Percentage the running importer reports. */
  podProgress: string | undefined;
}

const noted = eventsFrom('import-populator');

/** What the populator copies from prime to the target; what prime lacks, the target loses. */
const copied = [
  annotation.podPhase,
  annotation.podReady,
  annotation.podRestarts,
  annotation.preallocationRequested,
  annotation.running,
  annotation.runningMessage,
  annotation.runningReason,
  annotation.podSchedulable,
  annotation.fatalError,
];

export const isPopulatedByImport = ({ spec }: Claim) =>
  spec.dataSourceRef?.apiGroup === 'cdi.kubevirt.io' && spec.dataSourceRef.kind === 'VolumeImportSource';

/** The next writes about a claim that an import populates: prime, what prime tells, the volume handed over, prime gone. */
export function nextForTarget(observed: ObservedTarget): Write[] {
  const { target, prime } = observed;
  const phase = target.status?.phase ?? 'Pending';
  if (!prime) return phase === 'Pending' ? primeWrites(observed) : [];
  const patch = annotationsPatch(target.metadata.annotations, wantedAnnotations(observed, prime));
  if (patch) return [patchOf(Claim, target, patch), ...copiedEvent(observed, prime)];
  const imported = prime.metadata.annotations?.[annotation.podPhase] === 'Succeeded';
  if (imported && phase === 'Pending') return handOver(target, prime, observed.clusterBinds);
  if (imported && phase === 'Bound') return prime.status?.phase === 'Lost' ? removePrime(prime) : [lost(prime)];
  return [];
}

/** Whether the next write hands the volume over, which takes the real one a moment. */
export const isHandOver = (writes: readonly Write[]) =>
  writes.some((write) => write.do === 'patch' && write.resource === PersistentVolume);

function primeWrites({ target, importSource, waitsForConsumer }: ObservedTarget): Write[] {
  const hasNode = target.metadata.annotations?.[annotation.selectedNode] !== undefined;
  if (!importSource || (waitsForConsumer && !hasNode && !bindsAtOnce(target))) return [];
  return [
    { do: 'create', resource: Claim, object: primeClaimFor(target, importSource) },
    noted(target, 'Normal', 'CreatedPVCPrimeSuccessfully', 'PVC Prime created successfully'),
  ];
}

function wantedAnnotations(observed: ObservedTarget, prime: Claim): Record<string, string | undefined> {
  const { target, primeEvent } = observed;
  const found = prime.metadata.annotations ?? {};
  const bound = target.status?.phase === 'Bound';
  const message = bound ? undefined : (primeEvent?.message ?? target.metadata.annotations?.[annotation.boundMessage]);
  return {
    ...Object.fromEntries(copied.map((name) => [name, found[name]])),
    // A new claim says "0" of itself, before any pod could.
    [annotation.podRestarts]: found[annotation.podRestarts] ?? '0',
    [annotation.pvcPrime]: prime.metadata.name,
    [annotation.bound]: message === undefined ? undefined : 'false',
    [annotation.boundReason]: message === undefined ? undefined : 'Pending',
    [annotation.boundMessage]: message,
    [annotation.populatorProgress]: progress(observed, prime),
  };
}

function progress({ target, podProgress }: ObservedTarget, prime: Claim): string | undefined {
  const phase = prime.metadata.annotations?.[annotation.podPhase];
  if (phase === 'Succeeded') return '100.0%';
  // 100 is held back: the pod may still convert or resize.
  if (phase === 'Running' && podProgress && !podProgress.startsWith('100')) return podProgress;
  const before = target.metadata.annotations?.[annotation.populatorProgress];
  return before ?? (prime.status?.phase === 'Bound' ? 'N/A' : undefined);
}

function copiedEvent({ target, primeEvent }: ObservedTarget, prime: Claim): Write[] {
  const shown = target.metadata.annotations?.[annotation.boundMessage];
  const fails = prime.metadata.annotations?.[annotation.podPhase] === 'Failed';
  const failed =
    fails && target.metadata.annotations?.[annotation.podPhase] !== 'Failed'
      ? [noted(target, 'Warning', 'importFailed', `import into ${target.metadata.name} failed`)]
      : [];
  if (!primeEvent || primeEvent.message === shown || target.status?.phase === 'Bound') return failed;
  return [
    ...failed,
    noted(target, primeEvent.type, primeEvent.reason, `[${prime.metadata.name}] : ${primeEvent.message}`),
  ];
}

function handOver(target: Claim, prime: Claim, clusterBinds: boolean): Write[] {
  const writes = rebound(target, prime, clusterBinds);
  if (writes.length === 0) return [];
  return [...writes, noted(target, 'Normal', 'importSucceeded', `Successfully imported into ${target.metadata.name}`)];
}

function removePrime(prime: Claim): Write[] {
  const kept = prime.metadata.annotations?.[annotation.retainAfterCompletion] === 'true';
  return kept ? [] : removalOf(Claim, prime);
}
