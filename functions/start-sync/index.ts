import { defineFunction, on } from '../../shared/function.ts';
import { leaseName, leaseRef } from '../../shared/images/slots.ts';
import { imageFactsBy } from '../../shared/images/status.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, isFinished, unfinished, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { VolumeSnapshotClass } from '../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../shared/kinds/storage/storage-class.ts';
import { withLabel } from '../../shared/kubernetes/selectors.ts';
import { policyName, policyRef } from '../../shared/policy.ts';
import { cachedObject } from '../../shared/runtime/cache.ts';
import { audit } from './audit.ts';
import { decide, split } from './decide.ts';
import { gather } from './gather.ts';
import type { Gathered, Observed } from './observed.ts';
import type { Unsettled } from './unsettled.ts';

/** Gives the free slot to the image that waited longest. */
export default defineFunction<Observed | Unsettled, Gathered | Unsettled>({
  name: 'start-sync',
  system: 'images',
  on: [
    on.changed(VMDiskImage, { source: 'pelotech' }),
    // Of a download only the end matters: follow-sync reports success in the image's status, and deletes what failed.
    on.deleted(DataVolume, { source: 'cdi', selector: withLabel(imageUidLabel) }),
    // An importer may outlive an attempt that failed; and one that is done tells so while follow-sync is away.
    on.deleted(Pod, { source: 'cdi', selector: withLabel(imageUidLabel), namespace: 'outsideWorkspaces' }),
    // Of its own writes it need not hear; the sweep finds what a user changes.
    on.deleted(Lease, { source: 'own', name: leaseName }),
    on.changed(ConfigMap, { source: 'own', name: policyName }),
    on.sweep(),
    on.audit(),
  ],
  may: [
    { resource: VMDiskImage, verbs: ['get', 'list', 'watch', 'patch'], admissionPolicy: 'metadata' },
    { resource: VMDiskImage, subresource: 'status', verbs: ['patch'] },
    { resource: DataVolume, verbs: ['get', 'list', 'create'] },
    { resource: Pod, verbs: ['list'] },
    { resource: PersistentVolumeClaim, verbs: ['list'] },
    { resource: VolumeSnapshot, verbs: ['list'] },
    { resource: StorageClass, verbs: ['list', 'watch'] },
    { resource: VolumeSnapshotClass, verbs: ['list', 'watch'] },
    { resource: Lease, verbs: ['get', 'create', 'update'], namespace: 'own' },
    { resource: Lease, verbs: ['list', 'watch'], namespace: 'own', names: [leaseName] },
    { resource: ConfigMap, verbs: ['list', 'watch'], namespace: 'own', names: [policyName] },
    // The policy, and what images name in certConfigMap and secretRef. Kubernetes cannot narrow a read to the keys.
    { resource: ConfigMap, verbs: ['get'] },
    { resource: Secret, verbs: ['get'] },
    { resource: Event, verbs: ['create'] },
    // For the state gauges, which this function's process computes for all (shared/runtime/telemetry/gauges.ts).
    { resource: VirtualMachine, verbs: ['list'] },
    { resource: Workspace, verbs: ['list'] },
  ],
  scale: 'single',
  caches: [
    {
      resource: VMDiskImage,
      fieldSelector: unfinished,
      includes: (image) => !isFinished((image as VMDiskImage).status?.phase),
    },
    cachedObject(Lease, leaseRef),
    cachedObject(ConfigMap, policyRef),
    { resource: StorageClass },
    { resource: VolumeSnapshotClass },
  ],
  facts: imageFactsBy('start-sync'),
  audit,
  observe: gather,
  split,
  beside: (one) => ('unsettled' in one || one.assignsSlots ? undefined : one.images[0]),
  decide,
});
