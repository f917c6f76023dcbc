import { type Cases, only, type Step } from './contract-step.ts';

export const volume = (more = {}, save = 'volume'): Step => ({
  ask: 'POST volume /volumes',
  body: { volume: { name: 'v-{run}', size: 1, ...more } },
  save: { [save]: 'volume.id' },
});
export const volumeIs = (status: string, name = 'volume'): Step => ({
  ask: `GET volume /volumes/{${name}}`,
  until: { paths: ['volume.status'], are: [status] },
});
export const volumeGone: Step = {
  ask: 'GET volume /volumes/{volume}',
  until: { status: 404, paths: ['volume.status'] },
};
const refused = (more: object): Step => ({ ...volume(more), save: {} });
const act = (body: object, more: Partial<Step> = {}): Step => ({
  ask: 'POST volume /volumes/{volume}/action',
  body,
  ...more,
});
const names = (body: { volumes: { name: string }[] }) => body.volumes.map(({ name }) => name).toSorted();

export const volumeCases: Cases = {
  'a volume is made, shown, and deleted to the end': [
    volume({ description: 'd', metadata: { 'kupenstack/uid': '1', a: 'b' } }),
    volumeIs('available'),
    { ask: 'GET volume /volumes/{volume}' },
    { ask: 'GET volume /volumes/{volume}', as: 'owner' },
    { ask: 'GET volume /volumes/{volume}', version: null },
    {
      ask: 'GET volume /volumes/{volume}',
      version: '3.65',
      as: 'owner',
      pick: (body: { volume: object }) => Object.keys(body.volume).toSorted(),
    },
    {
      ask: 'GET volume /volumes/detail',
      pick: (body: { volumes: object[] }) => body.volumes.map((each) => Object.keys(each).toSorted()),
    },
    { ask: 'GET volume /volumes' },
    { ask: 'DELETE volume /volumes/{volume}' },
    volumeGone,
    { ask: 'GET volume /volumes/{volume}' },
    { ask: 'DELETE volume /volumes/{volume}' },
    act({ 'os-set_bootable': { bootable: true } }),
  ],
  'volumes are found by name, metadata and page': [
    { ...volume({ name: 'a', metadata: { 'kupenstack:uid': '1' } }, 'a'), pick: only('volume.name') },
    volumeIs('available', 'a'),
    { ...volume({ name: 'b', metadata: { 'kupenstack:uid': '2' } }, 'b'), pick: only('volume.name') },
    volumeIs('available', 'b'),
    { ask: 'GET volume /volumes/detail?name=a', pick: names },
    { ask: 'GET volume /volumes/detail?metadata=%7B%22kupenstack%3Auid%22%3A%222%22%7D', pick: names },
    { ask: 'GET volume /volumes/detail?status=available', pick: names },
    { ask: 'GET volume /volumes/detail?status=error', pick: names },
    { ask: 'GET volume /volumes/detail?bootable=true', pick: names },
    { ask: 'GET volume /volumes?limit=1' },
    { ask: 'GET volume /volumes?limit=1&marker={b}', pick: names },
    { ask: 'GET volume /volumes?limit=1&marker={a}' },
    { ask: 'GET volume /volumes?limit=none', pick: only('badRequest.code') },
    { ask: 'GET volume /volumes?marker=11111111-1111-1111-1111-111111111111' },
    { ask: 'GET volume /volumes/detail?all_tenants=1', pick: names },
    { ask: 'GET volume /volumes/detail?all_tenants=1&project_id={project}', as: 'admin', pick: names },
  ],
  'a volume that makes no sense is refused': [
    { ...refused({ size: 0 }), pick: (body: { badRequest: { code: number } }) => body.badRequest.code },
    { ...refused({ size: 'big' }), pick: (body: { badRequest: { code: number } }) => body.badRequest.code },
    {
      ask: 'POST volume /volumes',
      body: { volume: { name: 'x' } },
      pick: (body: { badRequest: { code: number } }) => body.badRequest.code,
    },
    {
      ask: 'POST volume /volumes',
      body: { disk: {} },
      pick: (body: { badRequest: { code: number } }) => body.badRequest.code,
    },
    { ask: 'POST volume /volumes', bytes: '{' },
    refused({ imageRef: '11111111-1111-1111-1111-111111111111' }),
    { ask: 'GET volume /volumes/none' },
    { ask: 'GET volume /nothing', pick: () => '' },
  ],
  'bootable is a word, and set by hand': [
    volume(),
    volumeIs('available'),
    act({ 'os-set_bootable': { bootable: true } }),
    { ask: 'GET volume /volumes/{volume}', pick: only('volume.bootable') },
    act({ 'os-set_bootable': { bootable: false } }),
    { ask: 'GET volume /volumes/{volume}', pick: only('volume.bootable') },
    { ...act({ 'os-nothing': {} }), pick: () => '' },
  ],
  'a volume grows and never shrinks': [
    volume({ size: 2 }),
    volumeIs('available'),
    act({ 'os-extend': { new_size: 2 } }),
    act({ 'os-extend': { new_size: 1 } }),
    {
      ...act({ 'os-extend': { new_size: 0 } }),
      pick: (body: { badRequest: { code: number } }) => body.badRequest.code,
    },
    act({ 'os-reset_status': { status: 'error' } }),
    act({ 'os-reset_status': { status: 'error' } }, { as: 'owner' }),
    { ask: 'GET volume /volumes/{volume}', pick: only('volume.status') },
    act({ 'os-extend': { new_size: 3 } }),
    act({ 'os-reset_status': { status: 'available' } }, { as: 'owner' }),
    act({ 'os-extend': { new_size: 3 } }),
    { ask: 'GET volume /volumes/{volume}', until: { paths: ['volume.status'], areNot: ['extending'] } },
    { ask: 'GET volume /volumes/{volume}', pick: only('volume.status', 'volume.size') },
    { ask: 'DELETE volume /volumes/{volume}' },
    volumeGone,
  ],
  'an administrator deletes by force what cannot be deleted': [
    volume(),
    volumeIs('available'),
    act({ 'os-reset_status': { status: 'error_deleting' } }, { as: 'owner' }),
    { ask: 'DELETE volume /volumes/{volume}' },
    act({ 'os-force_delete': {} }),
    act({ 'os-force_delete': {} }, { as: 'owner' }),
    volumeGone,
  ],
  'quotas of volumes are an administrator’s, and end with 413': [
    { ask: 'PUT volume /os-quota-sets/{project}', body: { quota_set: { volumes: 1 } } },
    {
      ask: 'PUT volume /os-quota-sets/{project}',
      as: 'admin',
      body: { quota_set: { volumes: 1, gigabytes: 2 } },
      pick: only('quota_set.volumes', 'quota_set.gigabytes'),
    },
    {
      ask: 'GET volume /os-quota-sets/{project}',
      pick: only('quota_set.volumes', 'quota_set.gigabytes', 'quota_set.id'),
    },
    refused({ size: 3 }),
    { ...volume(), pick: only('volume.status') },
    volumeIs('available'),
    refused({}),
    act({ 'os-extend': { new_size: 5 } }),
    { ask: 'GET volume /os-quota-sets/{project}?usage=True', pick: only('quota_set.volumes', 'quota_set.gigabytes') },
  ],
};
