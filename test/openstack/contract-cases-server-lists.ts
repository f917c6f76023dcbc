import { volume, volumeIs } from './contract-cases-volume.ts';
import { disk, keyPair, parts, refusedServer, server, serverIs } from './contract-machine.ts';
import { type Cases, code, only } from './contract-step.ts';

const names = (kind: string) => (body: Record<string, { name: string }[]>) =>
  body[kind]?.map(({ name }) => name).toSorted();

export const serverListCases: Cases = {
  'servers are found by name, tag and state, page by page': [
    ...parts,
    {
      ...server({ name: 'web-1', tags: ['t1', 'both'], networks: 'none', metadata: { a: 'b' } }, 'one'),
      pick: () => '',
    },
    serverIs('ACTIVE', 'active', 'one'),
    { ...volume({}, 'second'), pick: () => '' },
    volumeIs('available', 'second'),
    { ask: 'POST volume /volumes/{second}/action', body: { 'os-set_bootable': { bootable: true } } },
    {
      ...server(
        { name: 'web-2', tags: ['t2', 'both'], networks: 'none', block_device_mapping_v2: [disk('second')] },
        'two',
      ),
      pick: () => '',
    },
    serverIs('ACTIVE', 'active', 'two'),
    { ask: 'GET compute /servers', pick: names('servers') },
    { ask: 'GET compute /servers/detail?name=^web-1$', pick: names('servers') },
    { ask: 'GET compute /servers/detail?name=web', pick: names('servers') },
    { ask: 'GET compute /servers/detail?name=^eb', pick: names('servers') },
    { ask: 'GET compute /servers/detail?tags=both', pick: names('servers') },
    { ask: 'GET compute /servers/detail?tags=t1,both', pick: names('servers') },
    { ask: 'GET compute /servers/detail?tags-any=t1,t2', pick: names('servers') },
    { ask: 'GET compute /servers/detail?not-tags=t1', pick: names('servers') },
    { ask: 'GET compute /servers/detail?status=ACTIVE', pick: names('servers') },
    { ask: 'GET compute /servers/detail?status=ERROR', pick: names('servers') },
    { ask: 'GET compute /servers/detail?all_tenants=1' },
    { ask: 'GET compute /servers/detail?all_tenants=1&project_id={project}', as: 'admin', pick: names('servers') },
    { ask: 'GET compute /servers?all_tenants=1&flavor={flavor}', as: 'admin', pick: names('servers') },
    { ask: 'GET compute /servers?all_tenants=1&flavor={flavor}&limit=1', as: 'admin', pick: names('servers') },
    { ask: 'GET compute /servers?all_tenants=1&flavor={project}', as: 'admin', pick: names('servers') },
    {
      ask: 'GET compute /servers/detail',
      as: 'admin',
      pick: (body: { servers: { name: string }[] }) => body.servers.some(({ name }) => name.startsWith('web-')),
    },
    { ask: 'GET compute /servers?limit=1' },
    { ask: 'GET compute /servers?limit=1&marker={two}', pick: names('servers') },
    { ask: 'GET compute /servers?limit=1&marker={one}', pick: only('servers', 'servers_links') },
    { ask: 'GET compute /servers?marker=11111111-1111-1111-1111-111111111111' },
    { ask: 'GET compute /servers?limit=x', pick: code },
  ],
  'quotas of servers are an administrator’s, and end with 403': [
    ...parts,
    { ask: 'PUT compute /os-quota-sets/{project}', body: { quota_set: { instances: 0 } } },
    {
      ask: 'PUT compute /os-quota-sets/{project}',
      as: 'admin',
      body: { quota_set: { instances: 0, metadata_items: 1 } },
      pick: only('quota_set.instances', 'quota_set.metadata_items'),
    },
    {
      ask: 'GET compute /os-quota-sets/{project}',
      pick: only('quota_set.instances', 'quota_set.metadata_items', 'quota_set.id'),
    },
    refusedServer({}),
    refusedServer({ metadata: { a: '1', b: '2' } }),
    {
      ask: 'PUT compute /os-quota-sets/{project}',
      as: 'admin',
      body: { quota_set: { instances: 5, cores: 0, key_pairs: 0 } },
      pick: only('quota_set.instances', 'quota_set.cores'),
    },
    refusedServer({}),
    {
      ask: 'PUT compute /os-quota-sets/{project}',
      as: 'admin',
      body: { quota_set: { cores: 5, ram: 10 } },
      pick: only('quota_set.ram', 'quota_set.cores'),
    },
    refusedServer({}),
    { ask: 'GET volume /volumes/{volume}', pick: only('volume.status') },
    keyPair('k-{run}'),
    { ask: 'GET compute /os-quota-sets/{project}/detail', pick: only('quota_set.instances', 'quota_set.ram') },
    { ask: 'DELETE compute /os-quota-sets/{project}', as: 'admin' },
  ],
};
