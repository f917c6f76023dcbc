import { ImagePublished, imagePublished } from '../../shared/events.ts';
import { defineFunction, on } from '../../shared/function.ts';
import { publicationKeysRef } from '../../shared/images/signature.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { decide, type Observed } from './decide.ts';
import { gather, gatherVerified } from './gather.ts';

/** Makes or renews the VMDiskImage of an image that a pipeline published. */
const preload = defineFunction<Observed>({
  name: 'preload',
  system: 'images',
  on: [on.event(imagePublished, ImagePublished, { forHours: true })],
  may: [
    { resource: VMDiskImage, verbs: ['get', 'create', 'patch'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Secret, verbs: ['get'], namespace: 'own', names: [publicationKeysRef.name] },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'zero',
  observe: gather,
  decide,
});
export default preload;

/** The same for a process that has verified the publishers itself: it reads no keys. What it writes is `preload`'s as well. */
export const verified = defineFunction<Observed>({
  ...preload,
  may: preload.may.filter(({ resource }) => resource !== Secret),
  observe: gatherVerified,
});
