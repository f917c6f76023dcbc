import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import type { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import type { Flavor } from '../../shared/kinds/openstack/flavor.ts';
import type { Network, Port } from '../../shared/kinds/openstack/network.ts';
import type { InstanceAction, Server } from '../../shared/kinds/openstack/server.ts';
import type { CinderVolume } from '../../shared/kinds/openstack/volume.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import type { CloudFault } from '../../shared/openstack/status.ts';
import type { Policy } from '../../shared/policy.ts';

/** One machine, and the VirtualNetworks and Volumes of its namespace that it names. */
export interface MachineWithSiblings {
  machine: KupenStackMachine;
  networks: readonly VirtualNetwork[];
  volumes: readonly Volume[];
}

/** The same, and what there is of it in OpenStack. */
export interface Observed extends MachineWithSiblings {
  nowMs: number;
  policy: Policy;
  refusals: Refusals;
  cloud: { fault: CloudFault } | Found;
}

/** The project as far as it is about one machine. */
export interface Found {
  /** Those that carry its uid. */
  servers: readonly Server[];
  ports: readonly Port[];
  /** Those that it may name, and the volumes that its servers have. */
  networks: readonly Network[];
  volumes: readonly CinderVolume[];
  /** All of the project. */
  flavors: readonly Flavor[];
  hasKeyPair: boolean;
  /** What was asked of its server so far; undefined where it has not changed since its restarts were counted. */
  actions: readonly InstanceAction[] | undefined;
  /** Flavors of ours that no machine needs any more; this machine is to delete them. */
  unusedFlavors: readonly Flavor[];
}
