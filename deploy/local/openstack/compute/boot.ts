import type { Cloud } from '../cloud.ts';
import type { Caller } from '../identity/state.ts';
import { makePort } from '../network/ports.ts';
import { attach, setStatus } from '../volume/handle.ts';
import type { WantedNetwork } from './new-server.ts';
import { bindPort } from './ports.ts';
import type { Flavor, ServerPort } from './state.ts';
import { begin, change, noteFailure } from './work.ts';

/** What the one host has; a flavor that wants more finds none (nova's fake driver says 1000 cores and 800000 MiB). */
const largest = { vcpus: 1000, ram: 800_000 };

export const fitsHost = ({ host }: Cloud, { vcpus, ram }: Flavor) =>
  host.isUp && vcpus <= largest.vcpus && ram <= largest.ram;

const stage = (task: string | null) => ({ task, time: 'bootStage' }) as const;

/** Takes a new server through its stages to ACTIVE, or to ERROR where there is no host or no address for it. */
export function boot(cloud: Cloud, id: string, networks: readonly WantedNetwork[], caller: Caller): void {
  const { clock, times, host } = cloud;
  clock.after(times.bootStage, () => {
    const server = cloud.compute.servers.get(id);
    if (server?.taskState !== 'scheduling') return;
    if (!fitsHost(cloud, server.flavor)) return fail(cloud, id, 'No valid host was found. ');
    change(cloud, id, { host: host.name });
    begin(cloud, id, {
      stages: [stage(null), stage('networking'), stage('block_device_mapping'), stage('spawning')],
      after: (task) => {
        if (task === 'spawning' && cloud.fails('boot'))
          fail(cloud, id, `Build of instance ${id} aborted: the simulator was told so`);
        if (task === 'networking') connect(cloud, id, networks, caller);
        if (task === 'block_device_mapping') takeVolumes(cloud, id);
      },
      end: ({ vmState }) => {
        if (vmState === 'building')
          change(cloud, id, { vmState: 'active', taskState: null, powerState: 1, launchedMs: clock.now() });
      },
    });
  });
}

function connect(cloud: Cloud, id: string, networks: readonly WantedNetwork[], caller: Caller) {
  try {
    const ports = networks.map(({ port, uuid = '', fixed_ip }): ServerPort => {
      if (port) return { portId: port, isNovas: false };
      const made = makePort(cloud, caller, {
        network_id: uuid,
        ...(fixed_ip && { fixed_ips: [{ ip_address: fixed_ip }] }),
      });
      return { portId: made.id, isNovas: true };
    });
    for (const { portId } of ports) bindPort(cloud, portId, id);
    change(cloud, id, { ports });
  } catch {
    fail(cloud, id, `Build of instance ${id} aborted: Failed to allocate the network(s), not rescheduling.`);
  }
}

function takeVolumes(cloud: Cloud, id: string) {
  for (const { volumeId, device } of cloud.compute.servers.get(id)?.volumes ?? []) {
    setStatus(cloud, volumeId, 'attaching');
    attach(cloud, volumeId, id, device);
  }
}

/** The volumes stay reserved: only DELETE of the server lets them go. */
function fail(cloud: Cloud, id: string, message: string) {
  const work = (cloud.compute.servers.get(id)?.work ?? 0) + 1;
  change(cloud, id, {
    vmState: 'error',
    taskState: null,
    work,
    fault: { code: 500, created: cloud.clock.now(), message },
  });
  noteFailure(cloud, id);
}
