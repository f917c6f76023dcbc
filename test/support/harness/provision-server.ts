import { decide } from '../../../functions/provision-server/decide.ts';
import type { Found, Observed } from '../../../functions/provision-server/observed.ts';
import type { KupenStackMachineStatus } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import type { CloudFault } from '../../../shared/openstack/status.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import { start } from '../builders/images.ts';
import {
  aCinderVolume,
  aFlavor,
  aKupenStackMachine,
  aServer,
  conditionsIn,
  heldBy,
  requestsIn,
  saying,
  statusIn,
} from '../builders/openstack.ts';

/** What is observed of a machine, with the content of its project. */
export type Given = Partial<Omit<Observed, 'cloud' | 'policy'>> &
  Partial<Omit<Found, 'networks' | 'volumes'>> & {
    fault?: CloudFault['reason'];
    policy?: Record<string, string>;
    /** Volumes of the project; `volumes` are the objects of the namespace. */
    disks?: Found['volumes'];
    /** Networks of the project. */
    nets?: Found['networks'];
  };

/** A bootable volume of the project that is called `disk`, free. */
export const freeDisk = aCinderVolume(undefined, { id: 'id-disk', name: 'disk' });
/** The same where the machine's server has booted from it. */
export const bootedDisk = { ...freeDisk, ...heldBy('id-server') };

/** A machine on one free disk, with a flavor of its size, and no server yet. */
export function observedOf({ fault, policy = {}, disks, nets, ...given }: Given = {}): Observed {
  const { servers, ports, flavors, hasKeyPair, actions, unusedFlavors, ...rest } = given;
  const found: Found = {
    servers: servers ?? [],
    ports: ports ?? [],
    networks: nets ?? [],
    volumes: disks ?? [freeDisk],
    flavors: flavors ?? [aFlavor()],
    hasKeyPair: hasKeyPair ?? false,
    actions,
    unusedFlavors: unusedFlavors ?? [],
  };
  return {
    nowMs: start + 10_000,
    policy: parsePolicy({ data: policy }),
    refusals: new Map(),
    machine: aKupenStackMachine(),
    networks: [],
    volumes: [],
    ...rest,
    cloud: fault ? { fault: { reason: fault, message: 'why it is so' } } : found,
  };
}

/** A machine whose server runs on its disk. */
export const running = (given: Given & { server?: Parameters<typeof aServer>[1] } = {}): Given => {
  const { server, ...more } = given;
  const machine = more.machine ?? aKupenStackMachine();
  return { machine, servers: [aServer(machine, server)], disks: [bootedDisk], ...more };
};

/** One look at a machine, and what came of it. */
export function reconcile(given: Given = {}) {
  const observed = observedOf(given);
  const actions = decide(observed);
  return {
    observed,
    actions,
    done: saying(actions),
    requests: requestsIn(actions),
    status: statusIn<KupenStackMachineStatus>(actions),
    conditions: conditionsIn(actions),
  };
}
