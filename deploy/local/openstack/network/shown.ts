import { toTime } from '../../../../shared/kubernetes/time.ts';
import type { Cloud } from '../cloud.ts';
import type { Network, Owned, Port, Subnet } from './state.ts';

const common = ({ id, name, project_id, description, tags, createdMs, updatedMs, revision }: Owned) => ({
  id,
  name,
  tenant_id: project_id,
  project_id,
  description,
  tags: tags.toSorted(),
  created_at: toTime(createdMs),
  updated_at: toTime(updatedMs),
  revision_number: revision,
});

/** A network as Neutron shows it; only an administrator sees what it is made of. */
export const shownNetwork = ({ network }: Cloud, of: Network, isAdmin: boolean) => ({
  ...common(of),
  admin_state_up: of.admin_state_up,
  mtu: of.mtu,
  status: 'ACTIVE',
  subnets: [...network.subnets.values()].filter(({ network_id }) => network_id === of.id).map(({ id }) => id),
  shared: of.shared,
  availability_zone_hints: [],
  availability_zones: [],
  ipv4_address_scope: null,
  ipv6_address_scope: null,
  'router:external': false,
  ...(isAdmin && {
    'provider:network_type': 'vxlan',
    'provider:physical_network': null,
    'provider:segmentation_id': of.segment,
  }),
});

/** A subnet as Neutron shows it. */
export const shownSubnet = (of: Subnet) => ({
  ...common(of),
  network_id: of.network_id,
  ip_version: of.ip_version,
  subnetpool_id: null,
  enable_dhcp: of.enable_dhcp,
  ipv6_ra_mode: null,
  ipv6_address_mode: null,
  gateway_ip: of.gateway_ip,
  cidr: of.cidr,
  allocation_pools: of.allocation_pools,
  host_routes: of.host_routes,
  dns_nameservers: of.dns_nameservers,
  service_types: [],
});

/** A port as Neutron shows it; where it is bound only an administrator sees. */
export const shownPort = ({ network }: Cloud, of: Port, isAdmin: boolean) => ({
  ...common(of),
  network_id: of.network_id,
  mac_address: of.mac_address,
  admin_state_up: of.admin_state_up,
  status: of.host ? 'ACTIVE' : 'DOWN',
  device_id: of.device_id,
  device_owner: of.device_owner,
  fixed_ips: of.fixed_ips,
  allowed_address_pairs: [],
  extra_dhcp_opts: [],
  security_groups: [network.defaultGroups.get(of.project_id)].filter((id) => id !== undefined),
  'binding:vnic_type': 'normal',
  ...(isAdmin && {
    'binding:profile': {},
    'binding:host_id': of.host,
    'binding:vif_type': of.host ? 'ovs' : 'unbound',
    'binding:vif_details': of.host ? { port_filter: true } : {},
  }),
});
