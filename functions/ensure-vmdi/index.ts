import { defineFunction, on } from '../../shared/function.ts';
import { imageFacts } from '../../shared/images/facts.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { policyName } from '../../shared/policy.ts';
import { decide } from './decide.ts';
import { audit, gather } from './gather.ts';
import type { Observed } from './observed.ts';

/** Creates the image that a machine names, if it is missing. */
export default defineFunction<Observed>({
  name: 'ensure-vmdi',
  system: 'machines',
  on: [
    on.changed(VirtualMachine, { source: 'pelotech' }),
    ...imageFacts(['queued'], { counted: 'false' }),
    ...imageFacts(['pruned']),
    on.createdOrDeleted(Namespace, { source: 'pelotech' }),
    on.changed(ConfigMap, { source: 'own', name: policyName }),
    on.audit(),
  ],
  may: [
    { resource: VirtualMachine, verbs: ['get', 'list'] },
    { resource: VirtualMachine, subresource: 'status', verbs: ['patch'] },
    { resource: VMDiskImage, verbs: ['get', 'create'] },
    { resource: Namespace, verbs: ['get'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'zero',
  audit,
  observe: gather,
  decide,
});
