import { type QuotaBook, quotaBook } from '../quotas.ts';

/** What networks, subnets and ports have in common. */
export interface Owned {
  id: string;
  name: string;
  project_id: string;
  description: string;
  tags: string[];
  createdMs: number;
  updatedMs: number;
  revision: number;
}

/** A network, which is nothing but its subnets and ports here. */
export interface Network extends Owned {
  admin_state_up: boolean;
  mtu: number;
  shared: boolean;
  /** The VXLAN it is. */
  segment: number;
}

/** Addresses that ports get, both ends included. */
export interface Pool {
  start: string;
  end: string;
}

/** The addresses of a network. */
export interface Subnet extends Owned {
  network_id: string;
  ip_version: 4 | 6;
  cidr: string;
  gateway_ip: string | null;
  enable_dhcp: boolean;
  allocation_pools: Pool[];
  dns_nameservers: string[];
  host_routes: { destination: string; nexthop: string }[];
}

/** An address of a port. */
export interface FixedIp {
  subnet_id: string;
  ip_address: string;
}

/** A place on a network for one machine. */
export interface Port extends Owned {
  network_id: string;
  admin_state_up: boolean;
  mac_address: string;
  fixed_ips: FixedIp[];
  device_id: string;
  device_owner: string;
  /** The compute host it is bound on; '' where it is not. */
  host: string;
}

/** All that Neutron knows. */
export interface NetworkState {
  networks: Map<string, Network>;
  subnets: Map<string, Subnet>;
  ports: Map<string, Port>;
  /** The security group that each project has from the beginning. */
  defaultGroups: Map<string, string>;
  quotas: QuotaBook;
  lastSegment: number;
}

export const emptyNetworks = (quotas: Readonly<Record<string, number>>): NetworkState => ({
  networks: new Map(),
  subnets: new Map(),
  ports: new Map(),
  defaultGroups: new Map(),
  quotas: quotaBook(quotas),
  lastSegment: 0,
});
