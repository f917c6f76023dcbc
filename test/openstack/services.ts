import { setTimeout as sleep } from 'node:timers/promises';
import { steppedClock } from '../../deploy/local/clock.ts';
import { startOpenStack } from '../../deploy/local/openstack/start-openstack.ts';

/** An OpenStack that the contract is asked of. */
export interface World {
  authUrl: string;
  region: string;
  userName: string;
  password: string;
  projectName: string;
  /** What is done between two looks at what takes time. */
  pause(): Promise<void>;
  /** Whether what a case makes has to be cleared up after it. */
  isLasting: boolean;
  close(): Promise<void>;
}

/** A simulator on a clock that each look steps on, by less than any stage takes: nothing it passes through is missed. */
export async function simulated(): Promise<World> {
  const stageMs = 100;
  const clock = steppedClock(Date.now());
  const times = {
    bootStage: stageMs,
    stop: stageMs,
    start: stageMs,
    reboot: stageMs,
    resizeStage: stageMs,
    confirm: stageMs,
    deleteServer: stageMs * 2,
    attach: stageMs * 2,
    detach: stageMs,
    createVolume: stageMs,
    download: stageMs,
    deleteVolume: stageMs,
    extend: stageMs,
    importImage: stageMs,
  };
  // As the real ones are set up for tests.
  const quotas = {
    compute: { instances: 200, cores: -1, ram: -1, key_pairs: 500 },
    volume: { volumes: 500, gigabytes: -1 },
  };
  const openStack = await startOpenStack({ clock, times, quotas });
  const { authUrl, region, admin, close } = openStack;
  const pause = async () => {
    clock.step(stageMs / 3);
    // What is downloaded comes in its own time.
    await sleep(1);
  };
  return { authUrl, region, ...admin, pause, isLasting: false, close };
}

/** The services that the environment names, as clients of OpenStack read it (OS_AUTH_URL, …); undefined where it names none. */
export function realOnes(): World | undefined {
  const { OS_AUTH_URL: authUrl, OS_USERNAME, OS_PASSWORD, OS_PROJECT_NAME, OS_REGION_NAME } = process.env;
  if (!authUrl) return undefined;
  return {
    authUrl,
    region: OS_REGION_NAME ?? 'RegionOne',
    userName: OS_USERNAME ?? 'admin',
    password: OS_PASSWORD ?? '',
    projectName: OS_PROJECT_NAME ?? 'admin',
    pause: () => sleep(40),
    isLasting: true,
    close: async () => {},
  };
}
