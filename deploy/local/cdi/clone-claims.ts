import type { Claim, ClaimSpec } from '../controller/kinds.ts';
import { annotation } from './annotation.ts';
import { cdiLabels, claim, claimProtection } from './claims.ts';

export const temporaryName = (target: Claim) => `tmp-pvc-${target.metadata.uid}`;
export const copiedName = (target: Claim) => `tmp-source-pvc-${target.metadata.uid}`;

/**
 * The claim in the namespace of the snapshot that the driver restores into, of the snapshot's own size; its volume is handed
 * to the target in the end. A copy from volume to volume has the target's size, and no source that a driver knows.
 */
export function temporaryClaimFor(
  target: Claim,
  snapshot: { namespace: string; name: string },
  restoreSize?: string,
  called = temporaryName(target),
) {
  const { namespace, name, uid, labels, annotations } = target.metadata;
  const { dataSource: _, dataSourceRef: __, volumeName: ___, ...spec } = target.spec;
  return claim({
    metadata: {
      name: called,
      namespace: snapshot.namespace,
      labels: { ...labels, ...cdiLabels, 'cdi.kubevirt.io/OwnedByUID': uid, 'velero.io/exclude-from-backup': 'true' },
      annotations: {
        ...annotations,
        [`${annotation.eventSource}.kind`]: 'PersistentVolumeClaim',
        [annotation.eventSource]: `${namespace}/${name}`,
        [annotation.populatorKind]: 'VolumeCloneSource',
      },
      finalizers: [claimProtection],
    },
    spec: restoreSize === undefined ? spec : restoring(spec, snapshot.name, restoreSize),
  });
}

const restoring = (spec: ClaimSpec, name: string, restoreSize: string): ClaimSpec => ({
  ...spec,
  dataSourceRef: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name },
  // A size of zero is a driver's way of saying that any will do.
  ...(restoreSize === '0'
    ? {}
    : { resources: { ...spec.resources, requests: { ...spec.resources?.requests, storage: restoreSize } } }),
});
