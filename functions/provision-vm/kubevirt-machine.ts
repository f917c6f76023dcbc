import {
  type KubeVirtMachine,
  KubeVirtMachine as KubeVirtMachineKind,
} from '../../shared/resources/kubevirt/virtual-machine.ts';
import type { VirtualMachine } from '../../shared/resources/pelotech/virtual-machine.ts';
import { digestOf } from '../../shared/rules/names.ts';
import type { Policy } from '../../shared/rules/policy.ts';
import { childLabels, childMetadata, cloudInitName, rootDiskName } from './children.ts';
import { hostNameOf } from './cloud-init.ts';
import { type Nic, nicsOf } from './networks.ts';

/** Digest of what we want of the machine: KubeVirt adds to what it is given, so that comparing the whole finds differences for ever. */
const wantedDigest = 'pelotech.ot/wanted-digest';

/** How the machine was to run when we said so last; from then on it is started and stopped by people. */
const askedToRun = 'pelotech.ot/run-strategy';

type RunStrategy = 'Always' | 'Halted';

/** The KubeVirt machine as it is made. */
export function kubeVirtMachineFor(machine: VirtualMachine, policy: Policy, runStrategy: RunStrategy) {
  const { labels, template } = wanted(machine, policy);
  const metadata = childMetadata(machine, machine.metadata.name);
  const annotations = { [wantedDigest]: digestOf(wanted(machine, policy)), [askedToRun]: runStrategy };
  return {
    apiVersion: KubeVirtMachineKind.apiVersion,
    kind: KubeVirtMachineKind.kind,
    metadata: { ...metadata, labels: { ...metadata.labels, ...(merged({}, labels) as object) }, annotations },
    spec: { runStrategy, template: merged({}, template) },
  };
}

/**
 * The KubeVirt machine as it should be, where it is not; undefined where it is. What KubeVirt or a person added stays; a
 * machine that was made halted is started once that is wanted, and none is ever stopped.
 */
export function changedKubeVirtMachine(
  machine: VirtualMachine,
  policy: Policy,
  { found, runStrategy }: { found: KubeVirtMachine; runStrategy: RunStrategy },
): KubeVirtMachine | undefined {
  const { labels, template } = wanted(machine, policy);
  const digest = digestOf(wanted(machine, policy));
  const { annotations = {} } = found.metadata;
  const isToStart = annotations[askedToRun] === 'Halted' && runStrategy === 'Always';
  if (annotations[wantedDigest] === digest && !isToStart) return undefined;
  const strategy = isToStart ? { runStrategy } : {};
  const asked = isToStart ? { [askedToRun]: runStrategy } : {};
  const withoutOld = merged(found.spec?.template ?? {}, { metadata: { annotations: staleAnnotations(found) } });
  const next = withAdded(merged(withoutOld, template) as Template, withoutOld as Template);
  return {
    ...found,
    metadata: {
      ...found.metadata,
      labels: merged(found.metadata.labels ?? {}, labels) as Record<string, string>,
      annotations: { ...annotations, [wantedDigest]: digest, ...asked },
    },
    spec: { ...found.spec, ...strategy, template: next },
  };
}

/** The machine was told to run, by us or by a person. */
export const isToRun = ({ metadata, spec }: KubeVirtMachine) =>
  metadata.annotations?.[askedToRun] === 'Always' || spec?.runStrategy === 'Always';

type Named = { name: string };
interface Template {
  spec?: { domain?: { devices?: { disks?: readonly Named[] } }; volumes?: readonly Named[] };
}

/** Disks that were plugged in by others stay. */
function withAdded(next: Template, found: Template): Readonly<Record<string, unknown>> {
  const { domain, volumes = [] } = next.spec ?? {};
  const added = (list: readonly Named[] = []) => list.filter(({ name }) => name !== root && name !== cloudInit);
  const disks = [...(domain?.devices?.disks ?? []), ...added(found.spec?.domain?.devices?.disks)];
  return {
    ...next,
    spec: {
      ...next.spec,
      domain: { ...domain, devices: { ...domain?.devices, disks } },
      volumes: [...volumes, ...added(found.spec?.volumes)],
    },
  };
}

/** Names that KubeVirt gives to disks, volumes and the one interface on the network of Pods. */
const root = 'root';
const cloudInit = 'cloudinit';
export const podNetwork = 'default';

/** What we want of labels and template; null is what may stand there from before and must not. */
function wanted(machine: VirtualMachine, policy: Policy) {
  const { name } = machine.metadata;
  const nics = nicsOf(machine);
  const labels = labelsOf(machine);
  return {
    labels,
    template: {
      metadata: {
        labels: { ...childLabels(machine), ...labels },
        ...(nics.length > 0 ? { annotations: annotationsOf(nics, policy) } : {}),
      },
      spec: {
        hostname: hostNameOf(machine),
        domain: {
          ...computeOf(machine),
          devices: {
            disks: [root, cloudInit].map((disk) => ({ name: disk, disk: { bus: 'virtio' } })),
            ...interfacesOf(nics),
          },
        },
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

const isLabelValue = (text: string | undefined): text is string =>
  text !== undefined && /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(text);

/** A whole number of cores is given to the guest; of a fraction it gets the cores, and so much of their time. */
function computeOf({ spec: { resources } }: VirtualMachine) {
  const milli = resources.cpu.endsWith('m') ? Number(resources.cpu.slice(0, -1)) : Number(resources.cpu) * 1000;
  const share = milli % 1000 === 0 ? null : resources.cpu;
  return {
    cpu: { cores: Math.max(1, Math.ceil(milli / 1000)) },
    memory: { guest: resources.memory },
    resources: { requests: { cpu: share }, limits: { cpu: share } },
  };
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
  multus: { networkName: `${attachment.namespace}/${attachment.name}` },
});

const kubeOvn = '.ovn.kubernetes.io/';

/** kube-ovn gives and lets pass no other address than these (its annotations have no length of the network). */
const annotationsOf = (nics: readonly Nic[], policy: Policy): Record<string, string> =>
  policy.values.networkProvider === 'kube-ovn'
    ? Object.fromEntries(
        nics.flatMap(({ attachment, mac, spec }) => {
          const prefix = `${attachment.name}.${attachment.namespace}${kubeOvn}`;
          const address = spec.ipAddress?.split('/')[0];
          return [[`${prefix}mac_address`, mac], ...(address === undefined ? [] : [[`${prefix}ip_address`, address]])];
        }),
      )
    : {};

const staleAnnotations = ({ spec }: KubeVirtMachine): Record<string, null> => {
  const { metadata } = (spec?.template ?? {}) as { metadata?: { annotations?: Record<string, string> } };
  const old = Object.keys(metadata?.annotations ?? {}).filter((key) => key.includes(kubeOvn));
  return Object.fromEntries(old.map((key) => [key, null]));
};

/** RFC 7386: what is null goes, what is not named stays, a list is replaced whole. */
function merged(found: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const base = isRecord(found) ? found : {};
  const changed = Object.entries(patch).map(([key, value]) => [key, value === null ? null : merged(base[key], value)]);
  return Object.fromEntries(
    Object.entries({ ...base, ...Object.fromEntries(changed) }).filter(([key, value]) => {
      const isEmptied =
        isRecord(value) &&
        Object.keys(value).length === 0 &&
        isRecord(patch[key]) &&
        Object.keys(patch[key]).length > 0;
      return value !== null && !isEmptied;
    }),
  );
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
