import { defineFunction, on } from '../../shared/function.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { decide, type Observed } from './decide.ts';
import { gather } from './gather.ts';

/** Deletes the projects that were made for namespaces which are gone. */
export default defineFunction<Observed>({
  name: 'retire-project',
  system: 'openstack',
  part: 'openstack',
  on: [on.audit()],
  may: [
    { resource: Secret, verbs: ['get'], names: [credentialsName], namespace: 'own' },
    { resource: Namespace, verbs: ['get', 'list'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
  ],
  scale: 'zero',
  observe: gather,
  decide,
});
