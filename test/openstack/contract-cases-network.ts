import { type Case, only, type Step } from './contract-step.ts';

const network = (name: string, more = {}, save = 'network'): Step => ({
  ask: 'POST network /v2.0/networks',
  body: { network: { name, ...more } },
  save: { [save]: 'network.id' },
});
const subnet = (more = {}, save = 'subnet'): Step => ({
  ask: 'POST network /v2.0/subnets',
  body: { subnet: { network_id: '{network}', cidr: '10.9.0.0/24', ip_version: 4, ...more } },
  save: { [save]: 'subnet.id' },
});
const port = (more = {}, save = 'port'): Step => ({
  ask: 'POST network /v2.0/ports',
  body: { port: { network_id: '{network}', ...more } },
  save: { [save]: 'port.id' },
});
const refusedSubnet = (more: object): Step => ({ ...subnet(more), save: {} });
const refusedPort = (more: object): Step => ({ ...port(more), save: {} });
const changed = (more: object): Step => ({ ask: 'PUT network /v2.0/subnets/{subnet}', body: { subnet: more } });
const names = (kind: string) => (body: Record<string, { name: string }[]>) =>
  body[kind]?.map(({ name }) => name).toSorted();

export const networkCases: Case[] = [
  {
    name: 'a network is made, shown, changed and deleted',
    steps: [
      network('n-{run}', { admin_state_up: true, description: 'kupenstack:uid=1' }),
      { ask: 'GET network /v2.0/networks/{network}' },
      { ask: 'GET network /v2.0/networks/{network}', as: 'admin' },
      {
        ask: 'PUT network /v2.0/networks/{network}',
        body: { network: { name: 'm-{run}', mtu: 1400, admin_state_up: false } },
      },
      { ask: 'PUT network /v2.0/networks/{network}', body: { network: { mtu: 9000 } } },
      { ask: 'PUT network /v2.0/networks/{network}', body: { network: { mtu: 10 } } },
      { ask: 'PUT network /v2.0/networks/{network}', body: { network: { colour: 'red' } } },
      { ask: 'GET network /v2.0/networks/{network}?fields=name&fields=mtu' },
      { ask: 'DELETE network /v2.0/networks/{network}' },
      { ask: 'GET network /v2.0/networks/{network}' },
      { ask: 'DELETE network /v2.0/networks/{network}' },
      { ask: 'POST network /v2.0/networks', body: { network: { name: 'x', shared: true } } },
      { ask: 'POST network /v2.0/networks', body: { network: { mtu: 'much' } } },
      { ask: 'POST network /v2.0/networks', bytes: '{' },
      { ask: 'GET network /v2.0/nothing' },
    ],
  },
  {
    name: 'networks are tagged, with any sign, and found by tag, name and project',
    steps: [
      network('a-{run}'),
      { ask: 'PUT network /v2.0/networks/{network}/tags', body: { tags: ['k/{run}', 'b'] } },
      { ask: 'GET network /v2.0/networks/{network}/tags' },
      network('b-{run}', {}, 'other'),
      { ask: 'PUT network /v2.0/networks/{other}/tags/b' },
      { ask: 'GET network /v2.0/networks?tags=k/{run},b', pick: names('networks') },
      { ask: 'GET network /v2.0/networks?tags=b', pick: names('networks') },
      { ask: 'GET network /v2.0/networks?tags-any=k/{run},c', pick: names('networks') },
      { ask: 'GET network /v2.0/networks?not-tags=k/{run}', pick: names('networks') },
      { ask: 'GET network /v2.0/networks?name=a-{run}', pick: names('networks') },
      { ask: 'GET network /v2.0/networks?name=a-', pick: names('networks') },
      { ask: 'GET network /v2.0/networks?project_id={project}', as: 'admin', pick: names('networks') },
      {
        ask: 'GET network /v2.0/networks?project_id={project}&limit=1',
        as: 'admin',
        pick: (body: { networks: unknown[]; networks_links: { rel: string }[] }) => [
          body.networks.length,
          body.networks_links.map(({ rel }) => rel),
        ],
      },
      { ask: 'DELETE network /v2.0/networks/{other}/tags/b' },
      { ask: 'DELETE network /v2.0/networks/{other}/tags/b' },
      { ask: 'PUT network /v2.0/networks/none/tags', body: { tags: ['a'] } },
    ],
  },
  {
    name: 'what is another project’s is not found',
    steps: [
      { ...network('n-{run}'), as: 'admin' },
      { ask: 'GET network /v2.0/networks/{network}' },
      { ask: 'DELETE network /v2.0/networks/{network}' },
      { ...port(), save: {} },
      { ...network('x-{run}', { project_id: '{adminProject}' }), save: {} },
      { ask: 'DELETE network /v2.0/networks/{network}', as: 'admin' },
    ],
  },
  {
    name: 'a subnet has a gateway and a pool of the rest, or what is said',
    steps: [
      network('n-{run}'),
      subnet(),
      { ask: 'GET network /v2.0/subnets/{subnet}' },
      { ask: 'GET network /v2.0/networks/{network}', pick: only('network.subnets') },
      subnet({ cidr: '10.9.1.0/24', gateway_ip: null, enable_dhcp: false, name: 'second' }, 'second'),
      subnet(
        {
          cidr: '10.9.2.7/24',
          gateway_ip: '10.9.2.10',
          allocation_pools: [{ start: '10.9.2.100', end: '10.9.2.120' }],
        },
        'third',
      ),
      subnet({ cidr: '10.9.3.0/24', gateway_ip: '10.9.3.10' }, 'fourth'),
      subnet({ cidr: '10.9.4.0/30' }, 'fifth'),
      subnet({ cidr: 'fd00:1::/64', ip_version: 6 }, 'sixth'),
      {
        ask: 'GET network /v2.0/subnets?network_id={network}&ip_version=4',
        pick: (body: { subnets: { cidr: string }[] }) => body.subnets.map(({ cidr }) => cidr).toSorted(),
      },
      { ask: 'GET network /v2.0/subnets?cidr=10.9.1.0/24', pick: names('subnets') },
      { ask: 'DELETE network /v2.0/subnets/{second}' },
      { ask: 'GET network /v2.0/subnets/{second}' },
      { ask: 'DELETE network /v2.0/networks/{network}' },
      { ask: 'GET network /v2.0/subnets/{subnet}' },
    ],
  },
  {
    name: 'a range overlaps none of the same network, and any of another',
    steps: [
      network('n-{run}'),
      subnet(),
      refusedSubnet({}),
      refusedSubnet({ cidr: '10.9.0.128/25' }),
      refusedSubnet({ cidr: '10.9.0.0/16' }),
      network('m-{run}', {}, 'other'),
      { ...subnet({ network_id: '{other}' }, 'same'), pick: only('subnet.cidr') },
    ],
  },
  {
    name: 'a subnet that makes no sense is refused',
    steps: [
      network('n-{run}'),
      refusedSubnet({ cidr: 'nonsense' }),
      refusedSubnet({ cidr: '10.9.0.0/33' }),
      refusedSubnet({ ip_version: 6 }),
      refusedSubnet({ ip_version: 5 }),
      refusedSubnet({ network_id: '11111111-1111-1111-1111-111111111111' }),
      refusedSubnet({ allocation_pools: [{ start: '10.9.1.1', end: '10.9.1.9' }] }),
      refusedSubnet({ allocation_pools: [{ start: '10.9.0.20', end: '10.9.0.10' }] }),
      refusedSubnet({
        allocation_pools: [
          { start: '10.9.0.10', end: '10.9.0.20' },
          { start: '10.9.0.15', end: '10.9.0.25' },
        ],
      }),
      refusedSubnet({ gateway_ip: '10.9.0.15', allocation_pools: [{ start: '10.9.0.10', end: '10.9.0.20' }] }),
      refusedSubnet({ gateway_ip: '10.9.0.0' }),
      refusedSubnet({ gateway_ip: '10.8.0.1' }),
      refusedSubnet({ gateway_ip: 'x' }),
      refusedSubnet({ enable_dhcp: 'perhaps' }),
      { ask: 'POST network /v2.0/subnets', body: { subnet: { network_id: '{network}', ip_version: 4 } } },
    ],
  },
  {
    name: 'a subnet changes its gateway, pools and DHCP, not its range',
    steps: [
      network('n-{run}'),
      subnet({ allocation_pools: [{ start: '10.9.0.100', end: '10.9.0.200' }] }),
      changed({ gateway_ip: '10.9.0.254' }),
      changed({ gateway_ip: '10.9.0.150' }),
      changed({ gateway_ip: null, enable_dhcp: false }),
      changed({ allocation_pools: [{ start: '10.9.0.10', end: '10.9.0.50' }] }),
      changed({ allocation_pools: [{ start: '10.9.1.10', end: '10.9.1.50' }] }),
      changed({ allocation_pools: [{ start: '10.9.0.60', end: '10.9.0.50' }] }),
      changed({ gateway_ip: '10.9.0.1', name: 'other' }),
      changed({ cidr: '10.10.0.0/24' }),
      { ask: 'PUT network /v2.0/subnets/none', body: { subnet: { name: 'x' } } },
    ],
  },
  {
    name: 'a port gets an address of each family, and holds its subnet and network',
    steps: [
      network('n-{run}'),
      { ...port({ name: 'bare' }, 'bare') },
      { ask: 'DELETE network /v2.0/ports/{bare}' },
      subnet(),
      port({ name: 'p', description: 'd' }),
      { ask: 'GET network /v2.0/ports/{port}' },
      { ask: 'GET network /v2.0/ports/{port}', as: 'admin' },
      { ask: 'DELETE network /v2.0/networks/{network}' },
      { ask: 'DELETE network /v2.0/subnets/{subnet}' },
      { ask: 'PUT network /v2.0/ports/{port}/tags', body: { tags: ['a/b'] } },
      { ask: 'GET network /v2.0/ports?network_id={network}&tags=a/b', pick: names('ports') },
      { ask: 'GET network /v2.0/ports?device_id=none', pick: names('ports') },
      {
        ask: 'PUT network /v2.0/ports/{port}',
        body: { port: { name: 'q' } },
        pick: only('port.name', 'port.description'),
      },
      subnet({ cidr: 'fd00:2::/64', ip_version: 6 }, 'six'),
      {
        ...port({ name: 'both' }, 'both'),
        pick: (body: { port: { fixed_ips: { ip_address: string }[] } }) =>
          body.port.fixed_ips.map(({ ip_address }) => ip_address.includes(':')).toSorted(),
      },
      { ask: 'DELETE network /v2.0/ports/{both}' },
      { ask: 'DELETE network /v2.0/ports/{port}' },
      { ask: 'GET network /v2.0/ports/{port}' },
      { ask: 'DELETE network /v2.0/ports/{port}' },
      { ask: 'DELETE network /v2.0/networks/{network}' },
    ],
  },
  {
    name: 'addresses are given once, and run out',
    steps: [
      network('n-{run}'),
      subnet({ allocation_pools: [{ start: '10.9.0.10', end: '10.9.0.11' }] }),
      { ...port({ fixed_ips: [{ ip_address: '10.9.0.200' }] }), pick: only('port.fixed_ips.length', 'port.status') },
      refusedPort({ fixed_ips: [{ ip_address: '10.9.0.200' }] }),
      refusedPort({ fixed_ips: [{ subnet_id: '{subnet}', ip_address: '10.9.0.200' }] }),
      refusedPort({ fixed_ips: [{ subnet_id: '{subnet}', ip_address: '10.10.0.1' }] }),
      refusedPort({ fixed_ips: [{ ip_address: '10.10.0.1' }] }),
      refusedPort({ fixed_ips: [{ subnet_id: '{subnet}', ip_address: '10.9.0.255' }] }),
      { ...port({}, 'one'), pick: only('port.fixed_ips.length') },
      { ...port({}, 'two'), pick: only('port.fixed_ips.length') },
      refusedPort({}),
      { ask: 'DELETE network /v2.0/ports/{one}' },
      { ...port({}, 'one'), pick: only('port.fixed_ips.length') },
      {
        ask: 'PUT network /v2.0/ports/{one}',
        body: { port: { fixed_ips: [{ subnet_id: '{subnet}', ip_address: '10.9.0.77' }] } },
        pick: only('port.fixed_ips.length'),
      },
      {
        ask: 'PUT network /v2.0/ports/{one}',
        body: { port: { fixed_ips: [{ subnet_id: '{subnet}', ip_address: '10.9.0.200' }] } },
      },
      refusedPort({ network_id: '11111111-1111-1111-1111-111111111111' }),
      { ask: 'POST network /v2.0/ports', body: { port: { name: 'x' } } },
    ],
  },
  {
    name: 'quotas of networks are an administrator’s, and end with a conflict',
    steps: [
      { ask: 'GET network /v2.0/quotas/{project}', pick: only('quota.network', 'quota.subnet', 'quota.port') },
      { ask: 'PUT network /v2.0/quotas/{project}', body: { quota: { network: 1 } } },
      {
        ask: 'PUT network /v2.0/quotas/{project}',
        as: 'admin',
        body: { quota: { network: 1, subnet: 1, port: 1 } },
        pick: only('quota.network', 'quota.subnet', 'quota.port'),
      },
      { ...network('n-{run}'), pick: only('network.status') },
      { ...network('m-{run}'), save: {} },
      { ...subnet(), pick: only('subnet.cidr') },
      refusedSubnet({ cidr: '10.9.1.0/24' }),
      { ...port(), pick: only('port.status') },
      refusedPort({}),
      { ask: 'DELETE network /v2.0/quotas/{project}', as: 'admin' },
      { ...port({}, 'second'), pick: only('port.status') },
    ],
  },
];
