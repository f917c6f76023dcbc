import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../clock.ts';
import { answer, type Call } from './answer.ts';
import { type Cloud, type CloudOptions, emptyCloud } from './cloud.ts';
import { computeService } from './compute/compute.ts';
import { type Faults, faultBook } from './faults.ts';
import { identityService } from './identity/identity.ts';
import { administrator } from './identity/state.ts';
import { imageService } from './image/image.ts';
import { networkService } from './network/network.ts';
import { volumeService } from './volume/volume.ts';

/** What an OpenStack is started with; times are milliseconds of its clock, quotas those of a project that has none of its own. */
export interface OpenStackOptions extends Omit<CloudOptions, 'fails'> {
  /** 0, the default, takes a free one. */
  port?: number;
  /** The address of this machine that its services name themselves by, and listen on; 127.0.0.1 unless others are to reach them. */
  host?: string;
}

/** A running OpenStack, and what can be made to go wrong with it. */
export interface OpenStack extends Faults {
  /** Keystone's address, ending in /v3. */
  authUrl: string;
  region: string;
  /** Who may do everything from the beginning. */
  admin: { projectName: string; userName: string; password: string; domainId: string };
  /** Takes the one compute host down, or brings it back: meanwhile servers stay in whatever task they are in. */
  setHostUp(isUp: boolean): void;
  /** Hears of each call when it is done and before its answer goes out; the returned function ends that. */
  onCall(listener: (call: Call) => void): () => void;
  close(): Promise<void>;
}

/**
 * Starts an OpenStack on one address of this machine: keystone, nova, neutron, cinder and glance (Zed: 22, 26, 21, 21, 25) as far as servers that
 * boot from volumes need them. Nothing runs in the servers, and nothing is kept. All time is `clock`'s.
 */
export async function startOpenStack(options: OpenStackOptions): Promise<OpenStack> {
  const { host = '127.0.0.1' } = options;
  const clock = closable(options.clock);
  const faults = faultBook(clock);
  const cloud = emptyCloud({ ...options, clock, fails: faults.takeWork });
  const listeners = new Set<(call: Call) => void>();
  const services = [identityService, computeService, networkService, volumeService, imageService].map((make) =>
    make(cloud),
  );
  const tell = (call: Call) => {
    for (const listener of listeners) listener(call);
  };
  const server = createServer((request, response) => {
    answer(request, response, { cloud, services, faults, tell }).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, host, resolve);
  });
  cloud.url = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    authUrl: `${cloud.url}/identity/v3`,
    region: cloud.region,
    admin: { ...administrator },
    setHostUp: (isUp) => setHostUp(cloud, isUp),
    failNext: faults.failNext,
    failWork: faults.failWork,
    hang: faults.hang,
    loseAnswer: faults.loseAnswer,
    cutOff: faults.cutOff,
    onCall: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      clock.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function setHostUp({ host }: Cloud, isUp: boolean) {
  host.isUp = isUp;
  if (isUp) for (const task of host.waiting.splice(0)) task();
}

/** A clock whose pending work ends with it: nothing may keep a process alive, or write to a cloud, after close. */
function closable(clock: Clock): Clock & { close(): void } {
  const pending = new Set<() => void>();
  return {
    now: clock.now,
    after: (ms, task) => {
      const off = clock.after(ms, () => {
        pending.delete(off);
        task();
      });
      pending.add(off);
      return () => {
        pending.delete(off);
        off();
      };
    },
    close: () => {
      for (const off of pending) off();
      pending.clear();
    },
  };
}
