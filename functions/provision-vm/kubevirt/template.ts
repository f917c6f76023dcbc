import { networkProviderAnnotation, type VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import { isLabelValue } from '../../../shared/kubernetes/names.ts';
import type { Policy } from '../../../shared/policy.ts';
import { childLabels, cloudInitName, rootDiskName } from '../children.ts';
import { hostNameOf } from '../guest/cloud-init.ts';
import { probesOf } from '../guest/guest.ts';
import { type Nic, nicsOf } from '../network/networks.ts';
import { computeOf, diskTargetOf, firmwareOf, matchersOf, tpmOf } from './hardware.ts';

/** Names that KubeVirt gives to disks, volumes and the one interface on the network of Pods. */
export const root = 'root';
export const cloudInit = 'cloudinit';
export const podNetwork = 'default';

/** The wanted labels, template, and the fields beside it; null removes what an earlier version may have written. */
export function wanted(machine: VirtualMachine, policy: Policy) {
  const { name } = machine.metadata;
  const nics = nicsOf(machine);
  const labels = labelsOf(machine);
  const matchers = matchersOf(machine);
  return {
    labels,
    ...(Object.keys(matchers).length > 0 ? { matchers } : {}),
    template: {
      metadata: {
        labels: { ...childLabels(machine), ...labels },
        ...(nics.length > 0 ? { annotations: annotationsOf(machine, nics, policy) } : {}),
      },
      spec: {
        hostname: hostNameOf(machine),
        domain: {
          ...computeOf(machine),
          ...firmwareOf(machine),
          devices: {
            disks: [root, cloudInit].map((disk) => ({ name: disk, disk: diskTargetOf(machine) })),
            ...interfacesOf(nics),
            ...tpmOf(machine),
          },
        },
        ...probesOf(machine),
        networks: nics.length > 0 ? nics.map(networkOf) : [{ name: podNetwork, pod: {} }],
        volumes: [
          { name: root, dataVolume: { name: rootDiskName(name) } },
          {
            name: cloudInit,
            cloudInitNoCloud: {
              secretRef: { name: cloudInitName(name) },
              ...(nics.length > 0 ? { networkDataSecretRef: { name: cloudInitName(name) } } : {}),
            },
          },
        ],
      },
    },
  };
}

function labelsOf({ metadata, spec }: VirtualMachine): Record<string, string | null> {
  const labels = {
    'app.kubernetes.io/name': spec.name ?? metadata.name,
    'app.kubernetes.io/version': spec.version,
    'pelotech.ot/base-vm': spec.baseVm,
    'pelotech.ot/base-vm-version': spec.baseVmVersion,
  };
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, isLabelValue(value) ? value : null]));
}

const interfacesOf = (nics: readonly Nic[]) =>
  nics.length > 0
    ? {
        interfaces: nics.map(({ name, mac }) => ({ name, bridge: {}, macAddress: mac })),
        autoattachPodInterface: false,
      }
    : { interfaces: [{ name: podNetwork, masquerade: {} }], autoattachPodInterface: null };

const networkOf = ({ name, attachment }: Nic) => ({
  name,
  multus: { networkName: keyOf(attachment) },
});

export const kubeOvn = '.ovn.kubernetes.io/';

/** kube-ovn gives and lets pass no other address than these (its annotations have no length of the network). */
const annotationsOf = (machine: VirtualMachine, nics: readonly Nic[], policy: Policy): Record<string, string> =>
  (machine.metadata.annotations?.[networkProviderAnnotation] ?? policy.values.networkProvider) === 'kube-ovn'
    ? Object.fromEntries(
        nics.flatMap(({ attachment, mac, spec }) => {
          const prefix = `${attachment.name}.${attachment.namespace}${kubeOvn}`;
          const address = spec.ipAddress?.split('/')[0];
          return [[`${prefix}mac_address`, mac], ...(address === undefined ? [] : [[`${prefix}ip_address`, address]])];
        }),
      )
    : {};
