const prefix = 'cdi.kubevirt.io/';

/** The annotations through which CDI's controllers tell each other things; the names are CDI's own. */
export const annotation = {
  usePopulator: `${prefix}storage.usePopulator`,
  immediateBinding: `${prefix}storage.bind.immediate.requested`,
  retainAfterCompletion: `${prefix}storage.pod.retainAfterCompletion`,
  populatedFor: `${prefix}storage.populatedFor`,
  allowClaimAdoption: `${prefix}allowClaimAdoption`,
  createdForDataVolume: `${prefix}createdForDataVolume`,

  source: `${prefix}storage.import.source`,
  endpoint: `${prefix}storage.import.endpoint`,
  secretName: `${prefix}storage.import.secretName`,
  certConfigMap: `${prefix}storage.import.certConfigMap`,
  checksum: `${prefix}storage.import.checksum`,
  importPod: `${prefix}storage.import.importPodName`,
  requiresScratch: `${prefix}storage.import.requiresScratch`,
  requiresDirectIo: `${prefix}storage.import.requiresDirectIo`,
  fatalError: `${prefix}storage.import.fatalError`,
  cloneType: `${prefix}cloneType`,
  clonePhase: `${prefix}clonePhase`,
  cloneError: `${prefix}cloneError`,
  cloneFallbackReason: `${prefix}cloneFallbackReason`,
  cloneToken: `${prefix}storage.clone.token`,
  dataSourceNamespace: `${prefix}dataSourceNamespace`,
  eventSource: `${prefix}events.source`,
  ownedByDataVolume: `${prefix}ownedByDataVolume`,
  contentType: `${prefix}storage.contentType`,
  preallocationRequested: `${prefix}storage.preallocation.requested`,

  podPhase: `${prefix}storage.pod.phase`,
  podReady: `${prefix}storage.pod.ready`,
  podRestarts: `${prefix}storage.pod.restarts`,
  podSchedulable: `${prefix}storage.pod.schedulable`,
  running: `${prefix}storage.condition.running`,
  runningMessage: `${prefix}storage.condition.running.message`,
  runningReason: `${prefix}storage.condition.running.reason`,
  bound: `${prefix}storage.condition.bound`,
  boundMessage: `${prefix}storage.condition.bound.message`,
  boundReason: `${prefix}storage.condition.bound.reason`,

  populatorKind: `${prefix}storage.populator.kind`,
  populatorProgress: `${prefix}storage.populator.progress`,
  pvcPrime: `${prefix}storage.populator.pvcPrime`,

  selectedNode: 'volume.kubernetes.io/selected-node',
} as const;

export type Annotations = Record<string, string>;

/** A merge patch of annotations that differ, `null` for those that go; undefined where there is nothing to do. */
export function annotationsPatch(present: Annotations | undefined, wanted: Record<string, string | undefined>) {
  const changes = Object.entries(wanted).filter(([name, value]) => present?.[name] !== value);
  if (changes.length === 0) return undefined;
  return { metadata: { annotations: Object.fromEntries(changes.map(([name, value]) => [name, value ?? null])) } };
}
