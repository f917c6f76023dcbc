import { defineFunction, on } from '../../shared/function.ts';
import { imageFacts } from '../../shared/images/facts.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { hardwareKinds } from '../../shared/kinds/kubevirt/hardware.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { KubeVirtInstance } from '../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import { machineUidLabel, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { managedBy, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { withLabel } from '../../shared/kubernetes/selectors.ts';
import { policyName } from '../../shared/policy.ts';
import { decide } from './decide.ts';
import { audit, gather } from './gather.ts';
import type { Observed, Postponed } from './observed.ts';
import { machineFacts } from './status.ts';

/** Gives a machine its disk once its image is ready, then has KubeVirt run it, and reports its status. */
export default defineFunction<Observed | Postponed>({
  name: 'provision-vm',
  system: 'machines',
  part: 'kubevirt',
  on: [
    on.changed(VirtualMachine, { source: 'pelotech' }),
    // Those that a machine waits for always, for its image may not count it yet; those that its status shows only if the image does.
    ...imageFacts(['succeeded', 'ready', 'failed']),
    ...imageFacts(['queued', 'syncing', 'retrying', 'pruned'], { named: 'true' }),
    on.changed(DataVolume, { source: 'cdi', selector: withLabel(machineUidLabel) }),
    on.changed(KubeVirtMachine, { source: 'kubevirt', selector: { matchLabels: managedBy } }),
    on.changed(KubeVirtInstance, { source: 'kubevirt', selector: { matchLabels: managedBy } }),
    on.changed(ConfigMap, { source: 'own', name: policyName }),
    on.audit(),
  ],
  may: [
    { resource: VirtualMachine, verbs: ['get', 'list'] },
    { resource: VirtualMachine, subresource: 'status', verbs: ['patch'] },
    { resource: VMDiskImage, verbs: ['get'] },
    { resource: DataVolume, verbs: ['get', 'list', 'create', 'delete'] },
    { resource: DataVolume, subresource: 'source', verbs: ['create'] },
    { resource: Secret, verbs: ['get', 'create', 'update'], admissionPolicy: 'cloudInit' },
    { resource: KubeVirtMachine, verbs: ['get', 'list', 'create', 'update'] },
    { resource: KubeVirtInstance, verbs: ['get', 'list'] },
    { resource: NetworkAttachmentDefinition, verbs: ['list'] },
    { resource: hardwareKinds.preference, verbs: ['get'] },
    { resource: hardwareKinds.instancetype, verbs: ['get'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'zero',
  facts: machineFacts,
  audit,
  observe: gather,
  decide,
});
