import { defineFunction, on } from '../../shared/function.ts';
import { imageFacts } from '../../shared/images/facts.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { policyName } from '../../shared/policy.ts';
import { decide } from './decide.ts';
import { audit, gather } from './gather.ts';
import type { Observed } from './observed.ts';

/** Deletes unused images if the policy asks for it, and deletes what a deleted image leaves. */
export default defineFunction<Observed>({
  name: 'prune',
  system: 'pruning',
  on: [...imageFacts(['prunable']), on.changed(ConfigMap, { source: 'own', name: policyName }), on.audit()],
  may: [
    { resource: VMDiskImage, verbs: ['get', 'list', 'patch', 'delete'], admissionPolicy: 'metadata' },
    { resource: VMDiskImage, subresource: 'status', verbs: ['patch'] },
    { resource: VirtualMachine, verbs: ['list'] },
    { resource: Workspace, verbs: ['list'] },
    { resource: DataVolume, verbs: ['list', 'delete'] },
    { resource: PersistentVolumeClaim, verbs: ['list', 'delete'] },
    { resource: VolumeSnapshot, verbs: ['list', 'delete'] },
    { resource: Namespace, verbs: ['get'] },
    { resource: Lease, verbs: ['get'], namespace: 'own' },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'zero',
  audit,
  observe: gather,
  decide,
});
