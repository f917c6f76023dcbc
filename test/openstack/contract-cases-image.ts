import { volume, volumeIs } from './contract-cases-volume.ts';
import { type Cases, only, type Step } from './contract-step.ts';

const image = (more = {}, save = 'image'): Step => ({
  ask: 'POST image /v2/images',
  body: { name: 'i-{run}', disk_format: 'raw', container_format: 'bare', ...more },
  save: { [save]: 'id' },
});
const upload: Step = {
  ask: 'PUT image /v2/images/{image}/file',
  headers: { 'content-type': 'application/octet-stream' },
  bytes: 'sixteen bytes ..',
};
const imageIs = (status: string): Step => ({
  ask: 'GET image /v2/images/{image}',
  until: { paths: ['status'], are: [status] },
});
const told = () => '';
const names = (body: { images: { name: string }[] }) => body.images.map(({ name }) => name);

export const imageCases: Cases = {
  'an image is made, filled, shown and deleted': [
    { ...image({ kupenstack_uid: 'u-{run}', visibility: 'private' }), shows: ['openstack-image-import-methods'] },
    { ask: 'GET image /v2/images/{image}' },
    upload,
    { ask: 'GET image /v2/images/{image}' },
    { ...upload, pick: told },
    { ask: 'GET image /v2/images?name=i-{run}', pick: names },
    { ask: 'GET image /v2/images?kupenstack_uid=u-{run}', pick: names },
    { ask: 'GET image /v2/images?kupenstack_uid=other', pick: only('images') },
    { ask: 'DELETE image /v2/images/{image}' },
    { ask: 'GET image /v2/images/{image}' },
    { ask: 'DELETE image /v2/images/{image}' },
  ],
  'an administrator of another project is told which images a project owns': [
    image({ visibility: 'private' }),
    { ask: 'GET image /v2/images?owner={project}', as: 'admin', pick: names },
    { ask: 'GET image /v2/images?owner=11111111111111111111111111111111', as: 'admin', pick: names },
    { ask: 'DELETE image /v2/images/{image}' },
    { ask: 'GET image /v2/images?owner={project}', as: 'admin', pick: names },
  ],
  'an image that makes no sense is refused': [
    { ...image({ disk_format: 'round' }), save: {} },
    { ...image({ visibility: 'public' }), save: {} },
    image({ disk_format: null }),
    { ask: 'POST image /v2/images/{image}/import', body: { method: { name: 'web-download', uri: '{files}/good' } } },
    image({}, 'other'),
    { ask: 'POST image /v2/images/{other}/import', body: { method: { name: 'nothing' } } },
    {
      ask: 'POST image /v2/images/{other}/import',
      body: { method: { name: 'web-download', uri: 'ftp://127.0.0.1/x' } },
    },
    {
      ask: 'POST image /v2/images/11111111-1111-1111-1111-111111111111/import',
      body: { method: { name: 'web-download', uri: '{files}/good' } },
    },
  ],
  'an image is downloaded; one that cannot be is queued again, and says so beside its status': [
    image(),
    { ask: 'POST image /v2/images/{image}/import', body: { method: { name: 'web-download', uri: '{files}/good' } } },
    imageIs('active'),
    {
      ask: 'GET image /v2/images/{image}',
      pick: only(
        'status',
        'size',
        'checksum',
        'os_hash_value',
        'os_glance_failed_import',
        'os_glance_importing_to_stores',
        'stores',
      ),
    },
    { ask: 'POST image /v2/images/{image}/import', body: { method: { name: 'web-download', uri: '{files}/good' } } },
    { ask: 'DELETE image /v2/images/{image}' },
    image(),
    { ask: 'POST image /v2/images/{image}/import', body: { method: { name: 'web-download', uri: '{files}/missing' } } },
    {
      ask: 'GET image /v2/images/{image}',
      until: { paths: ['status', 'os_glance_failed_import'], are: ['queued', 'file'] },
    },
    { ask: 'GET image /v2/images/{image}' },
    { ask: 'POST image /v2/images/{image}/import', body: { method: { name: 'web-download', uri: '{files}/good' } } },
    imageIs('active'),
  ],
  'a volume is filled from an image, and can be booted from by itself': [
    { ...image(), pick: only('status') },
    { ...volume({ imageRef: '{image}' }), save: {} },
    upload,
    volume({ imageRef: '{image}' }),
    volumeIs('available'),
    {
      ask: 'GET volume /volumes/{volume}',
      pick: only('volume.bootable', 'volume.status', 'volume.volume_image_metadata'),
    },
    { ask: 'DELETE image /v2/images/{image}' },
    { ask: 'GET volume /volumes/{volume}', pick: only('volume.bootable', 'volume.status') },
  ],
  'an image that wants more room than the volume has is refused': [
    { ...image({ min_disk: 3 }), pick: only('min_disk') },
    upload,
    { ...volume({ imageRef: '{image}' }), save: {} },
    { ...image({ disk_format: 'qcow2' }), pick: only('disk_format') },
    {
      ask: 'POST image /v2/images/{image}/import',
      body: { method: { name: 'web-download', uri: '{files}/large.qcow2' } },
    },
    imageIs('active'),
    { ask: 'GET image /v2/images/{image}', pick: only('virtual_size', 'size') },
    { ...volume({ imageRef: '{image}' }), save: {} },
  ],
};
