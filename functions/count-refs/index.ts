import { defineFunction, on } from '../../shared/function.ts';
import { imageFacts } from '../../shared/images/facts.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { policyName } from '../../shared/policy.ts';
import { decide } from './decide.ts';
import { audit, essence, gather } from './gather.ts';
import type { Observed } from './observed.ts';

/** Reports on every image who uses it, and keeps each deleted machine until its image no longer counts it. */
export default defineFunction<Observed>({
  name: 'count-refs',
  system: 'machines',
  on: [
    on.changed(VirtualMachine, { source: 'pelotech' }),
    on.changed(Workspace, { source: 'pelotech' }),
    // An image that was made for a machine is counted once it is queued, any other by its first machine or once it is finished. Machines of
    // a deleted image need not wait.
    ...imageFacts(['queued'], { counted: 'false', named: 'true' }),
    ...imageFacts(['succeeded', 'failed'], { counted: 'false' }),
    ...imageFacts(['pruned'], { named: 'true' }),
    on.changed(ConfigMap, { source: 'own', name: policyName }),
    on.audit(),
  ],
  may: [
    { resource: VirtualMachine, verbs: ['get', 'list', 'watch', 'patch'], admissionPolicy: 'metadata' },
    { resource: Workspace, verbs: ['get', 'list'] },
    { resource: VMDiskImage, verbs: ['get', 'list'] },
    { resource: VMDiskImage, subresource: 'status', verbs: ['patch'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
  ],
  scale: 'single',
  // The machines of an image are counted whenever one comes or goes, and there may be thousands.
  caches: [{ resource: VirtualMachine, keep: essence }],
  audit,
  observe: gather,
  decide,
});
