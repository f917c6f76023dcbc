import * as z from 'zod';
import { type ListFilter, queryOf, requestTo, step, uidTag } from './request.ts';

/** A network of Neutron. */
export const Network = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string().default(''),
  description: z.string().default(''),
  mtu: z.number().optional(),
  subnets: z.array(z.string()).default([]),
});
export type Network = z.infer<typeof Network>;

/** The addresses of a network. */
export const Subnet = z.object({
  id: z.string(),
  description: z.string().default(''),
  network_id: z.string(),
  cidr: z.string(),
  gateway_ip: z.string().nullable().default(null),
  enable_dhcp: z.boolean().default(true),
  allocation_pools: z.array(z.object({ start: z.string(), end: z.string() })).default([]),
});
export type Subnet = z.infer<typeof Subnet>;

/** A place on a network for one machine. */
export const Port = z.object({
  id: z.string(),
  name: z.string().default(''),
  network_id: z.string(),
  status: z.string().default(''),
  description: z.string().default(''),
  device_id: z.string().default(''),
  device_owner: z.string().default(''),
  fixed_ips: z.array(z.object({ ip_address: z.string(), subnet_id: z.string() })).default([]),
});
export type Port = z.infer<typeof Port>;

const request = requestTo('network');

/** The project is always part of the query: an administrator's token lists all projects. */
const ofProject = (project: string, { uids, names }: ListFilter = {}) =>
  queryOf({ project_id: project, name: names, description: uids?.map(uidTag) });

export const listNetworks = (project: string, filter?: ListFilter) =>
  request('listNetworks', 'GET', `/v2.0/networks${ofProject(project, filter)}`);

export const listSubnets = (project: string, filter?: ListFilter) =>
  request('listSubnets', 'GET', `/v2.0/subnets${ofProject(project, filter)}`);

export const listPorts = (project: string, filter?: ListFilter) =>
  request('listPorts', 'GET', `/v2.0/ports${ofProject(project, filter)}`);

/** The uid is in the description, which is set at creation; tags need a second request. */
export const createNetwork = (uid: string, name: string, mtu: number | undefined) =>
  request('createNetwork', 'POST', '/v2.0/networks', {
    body: { network: { name, description: uidTag(uid), admin_state_up: true, ...(mtu ? { mtu } : {}) } },
  });

export const updateNetwork = (id: string, changes: { mtu: number }) =>
  request('updateNetwork', 'PUT', `/v2.0/networks/${step(id)}`, { body: { network: changes } });

/** Takes its subnets along; refused while ports are on it (neutron 21: 409 NetworkInUse). */
export const deleteNetwork = (id: string) =>
  request('deleteNetwork', 'DELETE', `/v2.0/networks/${step(id)}`, { about: id });

export interface SubnetShape {
  gateway_ip?: string | null;
  enable_dhcp?: boolean;
  allocation_pools?: readonly { start: string; end: string }[];
}

export const createSubnet = (
  { uid, name, networkId, cidr }: { uid: string; name: string; networkId: string; cidr: string },
  shape: SubnetShape,
) =>
  request('createSubnet', 'POST', '/v2.0/subnets', {
    body: {
      subnet: {
        network_id: networkId,
        name,
        description: uidTag(uid),
        cidr,
        ip_version: cidr.includes(':') ? 6 : 4,
        ...shape,
      },
    },
  });

export const updateSubnet = (id: string, shape: SubnetShape) =>
  request('updateSubnet', 'PUT', `/v2.0/subnets/${step(id)}`, { body: { subnet: shape } });

export const createPort = (uid: string, name: string, networkId: string) =>
  request('createPort', 'POST', '/v2.0/ports', {
    body: { port: { network_id: networkId, name, description: uidTag(uid) } },
    about: networkId,
  });

export const deletePort = (id: string) => request('deletePort', 'DELETE', `/v2.0/ports/${step(id)}`, { about: id });
