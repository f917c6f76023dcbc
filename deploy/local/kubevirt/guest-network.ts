import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import * as z from 'zod';
import type { InstanceSpec, Interface, Network } from './kinds.ts';

const Ethernet = z.looseObject({
  match: z.looseObject({ macaddress: z.string().optional() }).optional(),
  'set-name': z.string().optional(),
  addresses: z.array(z.string()).optional(),
});
const NetworkData = z.looseObject({ ethernets: z.record(z.string(), Ethernet).default({}) });

const hash = (text: string) => createHash('sha256').update(text).digest();

/** The name of a network's interface in the launcher (KubeVirt pkg/network/namescheme). */
const podInterfaceName = ({ name, multus }: Network) =>
  multus ? `pod${hash(name).toString('hex').slice(0, 11)}` : 'eth0';

const macOf = (uid: string, name: string) =>
  ['02', ...[...hash(`${uid}/${name}`).subarray(0, 5)].map((byte) => byte.toString(16).padStart(2, '0'))].join(':');

/** An address as the DHCP of a Pod network, or of an attachment, would give: always the same for the same interface. */
const leasedOf = (mac: string) => `10.244.${hash(mac)[0]}.${((hash(mac)[1] ?? 0) % 253) + 2}`;

/** The interfaces of a guest as they are known without its agent: an address only where the Pod has it. */
export function interfacesOf(spec: InstanceSpec, uid: string, infoSource: string): Interface[] {
  return (spec.domain.devices.interfaces ?? []).map(({ name, macAddress }) => {
    const network = spec.networks?.find((one) => one.name === name) ?? { name };
    const mac = (macAddress ?? macOf(uid, name)).toLowerCase();
    const leased = leasedOf(mac);
    return {
      name,
      mac,
      podInterfaceName: podInterfaceName(network),
      infoSource,
      queueCount: 1,
      linkState: 'up',
      ...(network.pod ? { ipAddress: leased, ipAddresses: [leased] } : {}),
    };
  });
}

/** The same as the guest's agent tells them: with the addresses that cloud-init's network data gives by MAC, else by DHCP. */
export function withAgent(interfaces: readonly Interface[], networkData: string | undefined): Interface[] {
  const { ethernets } = read(networkData);
  return interfaces.map((one, index) => {
    const found = Object.values(ethernets).find(({ match }) => match?.macaddress?.toLowerCase() === one.mac);
    const given = found?.addresses?.map((address) => address.replace(/\/\d+$/, ''));
    const addresses = given ?? one.ipAddresses ?? [leasedOf(one.mac ?? '')];
    return {
      ...one,
      interfaceName: found?.['set-name'] ?? `eth${index}`,
      infoSource: 'domain, guest-agent, multus-status',
      ...(addresses[0] ? { ipAddress: addresses[0], ipAddresses: addresses } : {}),
    };
  });
}

/** Network data that no guest could read configures nothing. */
function read(networkData: string | undefined): z.infer<typeof NetworkData> {
  try {
    return NetworkData.parse(parse(networkData ?? '') ?? {});
  } catch {
    return { ethernets: {} };
  }
}
