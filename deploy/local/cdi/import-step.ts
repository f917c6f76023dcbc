import { Claim, Pod } from '../controller/kinds.ts';
import { eventsFrom, patchOf, removalOf, type Write } from '../controller/write.ts';
import { type Annotations, annotation, annotationsPatch } from './annotation.ts';
import { scratchClaimFor } from './claims.ts';
import { importerPodFor, importerPodName } from './importer-pod.ts';
import { mirrorPod } from './pod-mirror.ts';

interface ObservedImport {
  /** The claim the importer writes to: prime, or without populators the target. */
  filled: Claim;
  pod: Pod | undefined;
  scratch: Claim | undefined;
  /** Labels of the DataVolume's own claim, which the pod carries too. */
  labels: Record<string, string>;
  /** What this look sees of the pod in its stead, where a fault clouds it. */
  seen?: Pod | undefined;
}

const eventOn = eventsFrom('import-controller');

/** The next writes about a claim that an importer pod fills: the pod's name, the pod, what it tells, its end. */
export function nextForImport(observed: ObservedImport): Write[] {
  const { filled, pod } = observed;
  if (!pod) return podWrites(observed);
  if (filled.metadata.deletionTimestamp) return removalOf(Pod, pod);
  return mirrorWrites(observed, observed.seen ?? pod);
}

const isDone = ({ metadata }: Claim) => metadata.annotations?.[annotation.podPhase] === 'Succeeded';

function podWrites({ filled, scratch, labels }: ObservedImport): Write[] {
  const { annotations = {}, deletionTimestamp } = filled.metadata;
  if (deletionTimestamp || isDone(filled) || annotations[annotation.fatalError] === 'true') return [];
  if (filled.status?.phase !== 'Bound') return [];
  if (annotations[annotation.importPod] === undefined) {
    const scratchFromTheStart = ['registry'].includes(annotations[annotation.source] ?? '');
    const wanted = {
      [annotation.importPod]: importerPodName(filled),
      ...(scratchFromTheStart ? { [annotation.requiresScratch]: 'true' } : {}),
    };
    return [patchOf(Claim, filled, { metadata: { annotations: wanted } })];
  }
  // The scratch claim of the previous pod is deleted with that pod; a new pod must not mount it.
  if (scratch) return [];
  const object = importerPodFor(filled, labels, annotations[annotation.requiresScratch] === 'true');
  return [{ do: 'create', resource: Pod, object }];
}

function mirrorWrites({ filled, pod, scratch }: ObservedImport, seen: Pod): Write[] {
  if (!pod || isDone(filled)) return cleanUp(filled, pod);
  const before = filled.metadata.annotations ?? {};
  const { annotations, replace, failure } = mirrorPod(before, seen);
  const needsScratch = before[annotation.requiresScratch] === 'true' && (pod.status?.phase ?? 'Pending') === 'Pending';
  const wanted = needsScratch ? { ...annotations, [annotation.requiresScratch]: 'false' } : annotations;
  // Of a pod that neither scheduler nor kubelet has looked at yet there is nothing to tell.
  const isUntouched = !seen.status?.conditions.length && !seen.status?.containerStatuses.length;
  const patch = isUntouched ? undefined : annotationsPatch(before, wanted);
  const ends = replace || annotations[annotation.fatalError] === 'true';
  return [
    ...(needsScratch && !scratch
      ? [{ do: 'create', resource: Claim, object: scratchClaimFor(filled, pod) } as const]
      : []),
    ...(patch ? [patchOf(Claim, filled, patch), ...warning(filled, failure), ...success(filled, annotations)] : []),
    ...(ends ? removalOf(Pod, pod) : []),
  ];
}

function warning(filled: Claim, failure: string | undefined): Write[] {
  if (failure === undefined) return [];
  return [eventOn(filled, 'Warning', 'ErrImportFailed', failure)];
}

function success(filled: Claim, annotations: Annotations): Write[] {
  if (annotations[annotation.podPhase] !== 'Succeeded') return [];
  return [eventOn(filled, 'Normal', 'ImportSucceeded', 'Import Successful')];
}

function cleanUp(filled: Claim, pod: Pod | undefined): Write[] {
  const retained = filled.metadata.annotations?.[annotation.retainAfterCompletion] === 'true';
  return !pod || retained ? [] : removalOf(Pod, pod);
}
