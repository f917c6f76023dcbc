import { defineFunction, on } from '../../shared/function.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { auditOf } from '../../shared/runtime/openstack/by-namespace.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { decide, type Observed } from './decide.ts';
import { gather, kinds } from './gather.ts';

/** Keeps a namespace's credentials for OpenStack as long as they are needed to delete something in it. */
export default defineFunction<Observed>({
  name: 'keep-account',
  system: 'openstack',
  part: 'openstack',
  // Every change: no event reports a Secret that is created after the objects that need it, but their status shows that it is not kept.
  on: [...kinds.map((kind) => on.changed(kind, { source: 'kupenstack' })), on.audit()],
  may: [
    ...kinds.map((resource) => ({ resource, verbs: ['get', 'list'] as const })),
    { resource: Secret, verbs: ['get', 'list', 'patch'], names: [credentialsName] },
  ],
  scale: 'zero',
  audit: auditOf(Secret, { fieldSelector: `metadata.name=${credentialsName}` }),
  observe: gather,
  decide,
});
