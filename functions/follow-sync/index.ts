import { defineFunction, on } from '../../shared/function.ts';
import { imageFacts } from '../../shared/images/facts.ts';
import { imageFactsBy } from '../../shared/images/status.ts';
import { DataSource } from '../../shared/kinds/cdi/data-source.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { withLabel } from '../../shared/kubernetes/selectors.ts';
import { decide } from './decide.ts';
import { audit, gather } from './gather.ts';
import type { Observed } from './observed.ts';

/** Follows the download and the snapshot of each image, and ends an attempt at the first sign that it failed. */
export default defineFunction<Observed>({
  name: 'follow-sync',
  system: 'images',
  on: [
    // Most changes of an image ask nothing of this function; start-sync, which reads each, says which may.
    ...imageFacts(['unsettled']),
    // It tells what its importer Pod does; the sweep sees what it leaves out (a Pod that is evicted, or cannot be scheduled).
    on.updatedOrDeleted(DataVolume, { source: 'cdi', selector: withLabel(imageUidLabel) }),
    on.updatedOrDeleted(VolumeSnapshot, { source: 'snapshotter', selector: withLabel(imageUidLabel) }),
    on.sweep(),
    on.audit(),
  ],
  may: [
    { resource: VMDiskImage, verbs: ['get', 'list'] },
    { resource: VMDiskImage, subresource: 'status', verbs: ['patch'] },
    { resource: DataVolume, verbs: ['get', 'list', 'delete'] },
    // For those whose policy asks for it.
    { resource: DataSource, verbs: ['get', 'list', 'create', 'patch'] },
    { resource: Pod, verbs: ['list'] },
    { resource: VolumeSnapshot, verbs: ['get', 'list', 'create', 'patch', 'delete'] },
    { resource: Lease, verbs: ['get'], namespace: 'own' },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'always',
  facts: imageFactsBy('follow-sync'),
  audit,
  observe: gather,
  decide,
});
