import { defineFunction, on } from '../../shared/function.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { auditOf } from '../../shared/runtime/openstack/by-namespace.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { decide } from './decide.ts';
import { gather } from './gather.ts';
import type { Observed } from './observed.ts';

/** Creates networks on OpenStack, each with its subnet, and reports their status. */
export default defineFunction<Observed>({
  name: 'provision-network',
  system: 'openstack',
  part: 'openstack',
  on: [on.changed(VirtualNetwork, { source: 'kupenstack' }), on.sweep(), on.audit()],
  may: [
    { resource: VirtualNetwork, verbs: ['get', 'list', 'patch'] },
    { resource: VirtualNetwork, subresource: 'status', verbs: ['patch'] },
    { resource: Secret, verbs: ['get'], names: [credentialsName] },
    { resource: Namespace, verbs: ['get'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'single',
  audit: auditOf(VirtualNetwork),
  observe: gather,
  decide,
});
