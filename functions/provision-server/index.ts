import { defineFunction, on } from '../../shared/function.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { auditOf } from '../../shared/runtime/openstack/by-namespace.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { decide } from './decide.ts';
import { gather } from './gather.ts';
import type { Observed } from './observed.ts';

/** Creates machines on OpenStack from volumes, keeps them as their specs say, and reports their status. */
export default defineFunction<Observed>({
  name: 'provision-server',
  system: 'openstack',
  part: 'openstack',
  on: [
    on.changed(KupenStackMachine, { source: 'kupenstack' }),
    on.changed(VirtualNetwork, { source: 'kupenstack' }),
    on.changed(Volume, { source: 'kupenstack' }),
    on.sweep(),
    on.audit(),
  ],
  may: [
    { resource: KupenStackMachine, verbs: ['get', 'list', 'watch', 'patch'] },
    { resource: KupenStackMachine, subresource: 'status', verbs: ['patch'] },
    { resource: VirtualNetwork, verbs: ['get', 'list'] },
    { resource: Volume, verbs: ['get', 'list'] },
    { resource: Secret, verbs: ['get'], names: [credentialsName] },
    { resource: Namespace, verbs: ['get'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'single',
  caches: [{ resource: KupenStackMachine }],
  audit: auditOf(KupenStackMachine),
  observe: gather,
  decide,
});
