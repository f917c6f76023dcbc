import { defineFunction, on } from '../../shared/function.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { auditOf } from '../../shared/runtime/openstack/by-namespace.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { decide } from './decide.ts';
import { gather } from './gather.ts';
import type { Observed } from './observed.ts';

/** Creates volumes on OpenStack, filled from images if their specs name one, and reports their status. */
export default defineFunction<Observed>({
  name: 'provision-volume',
  system: 'openstack',
  part: 'openstack',
  on: [
    on.changed(Volume, { source: 'kupenstack' }),
    on.changed(KupenStackMachine, { source: 'kupenstack' }),
    on.sweep(),
    on.audit(),
  ],
  may: [
    { resource: Volume, verbs: ['get', 'list', 'patch'] },
    { resource: Volume, subresource: 'status', verbs: ['patch'] },
    { resource: KupenStackMachine, verbs: ['get'] },
    { resource: Secret, verbs: ['get'], names: [credentialsName] },
    { resource: Namespace, verbs: ['get'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'single',
  audit: auditOf(Volume),
  observe: gather,
  decide,
});
