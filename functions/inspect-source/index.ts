import { defineFunction, on } from '../../shared/function.ts';
import { imageFacts } from '../../shared/images/facts.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { decide } from './decide.ts';
import { audit, gather } from './gather.ts';
import type { Observed } from './observed.ts';

/** Looks at the first bytes of an image's source before a slot, a volume and a Pod are spent on it. */
export default defineFunction<Observed>({
  name: 'inspect-source',
  system: 'inspection',
  on: [...imageFacts(['queued']), on.sweep(), on.audit()],
  may: [
    { resource: VMDiskImage, verbs: ['get', 'list'] },
    { resource: VMDiskImage, subresource: 'status', verbs: ['patch'] },
    { resource: Secret, verbs: ['get'], namespace: 'images' },
    { resource: ConfigMap, verbs: ['get'], namespace: 'images' },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'always',
  readsSources: true,
  audit,
  observe: gather,
  decide,
});
