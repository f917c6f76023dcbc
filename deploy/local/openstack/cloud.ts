import type { Clock } from '../clock.ts';
import { type ComputeState, emptyCompute } from './compute/state.ts';
import type { Work } from './faults.ts';
import { emptyIdentity, type IdentityState } from './identity/state.ts';
import { type Ids, seededIds } from './ids.ts';
import { emptyImages, type ImageState } from './image/state.ts';
import { emptyNetworks, type NetworkState } from './network/state.ts';
import { defaultQuotas, type Quotas } from './quotas.ts';
import { defaultTimes, type Times } from './times.ts';
import { emptyVolumes, type VolumeState } from './volume/state.ts';

/** Everything one simulated OpenStack knows; the services meet here, as the real ones do over each other's APIs. */
export interface Cloud {
  clock: Clock;
  ids: Ids;
  times: Times;
  /** What web-download fetches with. */
  fetch: typeof fetch;
  /** Whether work that is about to end well is to fail instead. */
  fails(work: Work): boolean;
  /** Address of the whole, without a slash at the end; known once it listens. */
  url: string;
  region: string;
  /** The one compute host and whether it is up. */
  host: { name: string; isUp: boolean; waiting: (() => void)[] };
  identity: IdentityState;
  compute: ComputeState;
  network: NetworkState;
  volume: VolumeState;
  image: ImageState;
}

/** What differs from cloud to cloud. */
export interface CloudOptions {
  clock: Clock;
  times?: Partial<Times> | undefined;
  quotas?: { [Service in keyof Quotas]?: Partial<Quotas[Service]> } | undefined;
  fetch?: typeof fetch | undefined;
  region?: string | undefined;
  fails?: Cloud['fails'] | undefined;
}

/** A cloud in which nothing was made yet. */
export function emptyCloud(options: CloudOptions): Cloud {
  const { clock, region = 'RegionOne' } = options;
  // A later cloud has other ids: an id that a client kept from an earlier one must not name an object here.
  const ids = seededIds(String(clock.now()));
  const quotas = (service: keyof Quotas) =>
    ({ ...defaultQuotas[service], ...options.quotas?.[service] }) as Record<string, number>;
  return {
    clock,
    ids,
    times: { ...defaultTimes, ...options.times },
    fetch: options.fetch ?? fetch,
    fails: options.fails ?? (() => false),
    url: '',
    region,
    host: { name: 'fakehost', isUp: true, waiting: [] },
    identity: emptyIdentity(ids),
    compute: emptyCompute(quotas('compute')),
    network: emptyNetworks(quotas('network')),
    volume: emptyVolumes(quotas('volume')),
    image: emptyImages(),
  };
}

/** `2026-01-01T00:00:00.000000`, as Cinder, and Nova in some places, write times. */
export const microsOf = (ms: number) => new Date(ms).toISOString().replace(/Z$/, '000');
