import { Refusal } from '../refusal.ts';

/** What Neutron says no with, in its own words (neutron 21, neutron_lib/exceptions). */
export const neutronRefusals = {
  notFound: (kind: 'Network' | 'Subnet' | 'Port', id: string) =>
    new Refusal(404, `${kind} ${id} could not be found.`, `${kind}NotFound`),
  invalid: (message: string) => new Refusal(400, `Invalid input for operation: ${message}.`, 'InvalidInput'),
  networkInUse: (id: string, ports: readonly string[]) =>
    new Refusal(
      409,
      `Unable to complete operation on network ${id}. There are one or more ports still in use on the network, id for these ports is: ${ports.join(',')}.`,
      'NetworkInUse',
    ),
  subnetInUse: (id: string) =>
    new Refusal(
      409,
      `Unable to complete operation on subnet ${id}: One or more ports have an IP allocation from this subnet.`,
      'SubnetInUse',
    ),
  overQuota: (resource: string) => new Refusal(409, `Quota exceeded for resources: ['${resource}'].`, 'OverQuota'),
  noAddress: (network: string) =>
    new Refusal(409, `No more IP addresses available on network ${network}.`, 'IpAddressGenerationFailure'),
  addressTaken: (address: string, subnet: string) =>
    new Refusal(409, `IP address ${address} already allocated in subnet ${subnet}`, 'IpAddressAlreadyAllocated'),
  badAddress: (address: string) =>
    new Refusal(400, `IP address ${address} is not a valid IP for the specified subnet.`, 'InvalidIpForSubnet'),
  badAddressAnywhere: (address: string) =>
    new Refusal(
      400,
      `IP address ${address} is not a valid IP for any of the subnets on the specified network.`,
      'InvalidIpForNetwork',
    ),
  notYours: () =>
    new Refusal(
      400,
      "Specifying 'project_id' or 'tenant_id' other than the authenticated project in request requires admin or advsvc privileges",
      'HTTPBadRequest',
    ),
  byPolicy: (rule: string) => new Refusal(403, `rule:${rule} is disallowed by policy`, 'PolicyNotAuthorized'),
};
