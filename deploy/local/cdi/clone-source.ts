import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import type { DataVolume } from '../controller/kinds.ts';
import { ownedBy } from '../controller/owner.ts';
import { annotation } from './annotation.ts';

/** Holds a DataVolume until what was made for it in the namespace of its source is gone. */
export const crossNamespaceFinalizer = 'cdi.kubevirt.io/dataVolumeFinalizer';

/** The snapshot that a DataVolume is to be cloned from. */
export function snapshotOf({ metadata, spec }: DataVolume): ObjectReference & { namespace: string } {
  const { namespace, name = '' } = spec.source?.snapshot ?? {};
  return { namespace: namespace || (metadata.namespace ?? ''), name };
}

export const isCrossNamespace = (dataVolume: DataVolume) =>
  snapshotOf(dataVolume).namespace !== dataVolume.metadata.namespace;

export const volumeCloneSourceName = ({ metadata }: DataVolume) => `volume-clone-source-${metadata.uid}`;

/** The object that tells the populator what to clone; an owner in another namespace can be named by annotation only. */
export function volumeCloneSourceFor(dataVolume: DataVolume) {
  const { namespace, name } = snapshotOf(dataVolume);
  const owner = `${dataVolume.metadata.namespace}/${dataVolume.metadata.name}`;
  return {
    metadata: {
      name: volumeCloneSourceName(dataVolume),
      namespace,
      ...(isCrossNamespace(dataVolume)
        ? { annotations: { [annotation.ownedByDataVolume]: owner } }
        : { ownerReferences: [ownedBy(dataVolume)] }),
    },
    spec: { source: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name } },
  };
}
