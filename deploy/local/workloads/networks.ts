import type { KubernetesObject, ObjectReference } from '../../../shared/kinds/resource.ts';
import type { Pod } from './kinds.ts';

export const networksAnnotation = 'k8s.v1.cni.cncf.io/networks';
const reported = 'k8s.v1.cni.cncf.io/network-status';

/** A network beside the cluster's own that a Pod asks Multus for. */
interface RequestedNetwork extends ObjectReference {
  ips?: string[];
  mac?: string;
  interface?: string;
}

/** The networks of a Pod's annotation, in both of its forms: JSON, or `namespace/name@interface` with commas between. */
export function networksOf({ metadata }: KubernetesObject): RequestedNetwork[] {
  const text = metadata.annotations?.[networksAnnotation]?.trim() ?? '';
  const home = metadata.namespace;
  if (text === '') return [];
  const listed = text.startsWith('[') ? inJson(text) : undefined;
  if (listed) return listed.map((network) => ({ ...network, namespace: network.namespace ?? home }));
  return text.split(',').map((each) => {
    const [path = '', device] = each.trim().split('@');
    const [first = '', second] = path.split('/');
    const place = second === undefined ? { namespace: home, name: first } : { namespace: first, name: second };
    return { ...place, ...(device ? { interface: device } : {}) };
  });
}

/** Invalid JSON counts as a network that does not exist. */
function inJson(text: string): RequestedNetwork[] {
  try {
    return JSON.parse(text) as RequestedNetwork[];
  } catch {
    return [{ name: text }];
  }
}

/** What Multus reports about the interfaces of a Pod: the addresses asked for, of kube-ovn by an annotation for each network. */
export function networkStatus(pod: Pod, podIP: string): Record<string, string> {
  const networks = networksOf(pod);
  if (networks.length === 0) return {};
  const annotations = pod.metadata.annotations ?? {};
  const others = networks.map(({ namespace, name, ips, mac, interface: device }, index) => {
    const prefix = `${name}.${namespace}.ovn.kubernetes.io`;
    const address = annotations[`${prefix}/ip_address`];
    const found = ips?.map((ip) => ip.replace(/\/\d+$/, '')) ?? (address ? address.split(',') : []);
    const hardware = mac ?? annotations[`${prefix}/mac_address`];
    return {
      name: `${namespace}/${name}`,
      interface: device ?? `net${index + 1}`,
      ...(found.length > 0 ? { ips: found } : {}),
      ...(hardware ? { mac: hardware } : {}),
      dns: {},
    };
  });
  const cluster = { name: 'cluster-network', interface: 'eth0', ips: [podIP], default: true, dns: {} };
  return { [reported]: JSON.stringify([cluster, ...others], undefined, 4) };
}
