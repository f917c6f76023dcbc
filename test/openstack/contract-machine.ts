import { volume, volumeIs } from './contract-cases-volume.ts';
import { only, type Step } from './contract-step.ts';

const told = () => '';

export const flavor = (more = {}, save = 'flavor'): Step => ({
  ask: 'POST compute /flavors',
  as: 'admin',
  body: { flavor: { name: `${save}-{run}`, vcpus: 1, ram: 64, disk: 0, ...more } },
  save: { [save]: 'flavor.id' },
  pick: told,
});

/** A network with addresses, a port on it, a disk to boot from, a flavor. */
export const parts: Step[] = [
  {
    ask: 'POST network /v2.0/networks',
    body: { network: { name: 'net-{run}' } },
    save: { network: 'network.id' },
    pick: told,
  },
  {
    ask: 'POST network /v2.0/subnets',
    body: { subnet: { network_id: '{network}', cidr: '10.9.0.0/24', ip_version: 4 } },
    save: { subnet: 'subnet.id' },
    pick: told,
  },
  {
    ask: 'POST network /v2.0/ports',
    body: { port: { network_id: '{network}' } },
    save: { port: 'port.id' },
    pick: told,
  },
  { ...volume(), pick: told },
  volumeIs('available'),
  { ask: 'POST volume /volumes/{volume}/action', body: { 'os-set_bootable': { bootable: true } } },
  flavor(),
];

export const disk = (name = 'volume', more = {}) => ({
  uuid: `{${name}}`,
  source_type: 'volume',
  destination_type: 'volume',
  boot_index: 0,
  delete_on_termination: false,
  ...more,
});

export const server = (more = {}, save = 'server'): Step => ({
  ask: 'POST compute /servers',
  body: {
    server: {
      name: 's-{run}',
      flavorRef: '{flavor}',
      networks: [{ port: '{port}' }],
      block_device_mapping_v2: [disk()],
      ...more,
    },
  },
  save: { [save]: 'server.id' },
});

export const refusedServer = (more: object): Step => ({ ...server(more), save: {} });

const shown = ['server.status', 'server.OS-EXT-STS:vm_state', 'server.OS-EXT-STS:task_state'];

export const serverIs = (status: string, vmState: string, name = 'server'): Step => ({
  ask: `GET compute /servers/{${name}}`,
  until: { paths: shown, are: [status, vmState, null] },
});
export const isActive = serverIs('ACTIVE', 'active');
export const serverGone: Step = {
  ask: 'GET compute /servers/{server}',
  until: { status: 404, paths: shown },
};

/** A server that runs, and what it is made of. */
export const running: Step[] = [...parts, { ...server(), pick: told }, isActive];

export const act = (body: object, more: Partial<Step> = {}): Step => ({
  ask: 'POST compute /servers/{server}/action',
  body,
  ...more,
});
export const stop: Step[] = [act({ 'os-stop': null }), serverIs('SHUTOFF', 'stopped')];

export const portIs = (...names: string[]): Step => ({
  ask: 'GET network /v2.0/ports/{port}',
  as: 'admin',
  pick: only(
    'port.status',
    'port.device_id',
    'port.device_owner',
    'port.binding:host_id',
    'port.binding:vif_type',
    ...names,
  ),
});

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG8UkHHbeu4CXcfvDUYMuVa4r5G+7wVU1EtdjwvMhMdD user@example.com';

export const keyPair = (name: string, more: Partial<Step> = {}, fields = {}): Step => ({
  ask: 'POST compute /os-keypairs',
  body: { keypair: { name, public_key: key, type: 'ssh', ...fields } },
  ...more,
});
