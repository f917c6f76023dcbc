import { readFileSync } from 'node:fs';
import { realClock } from '../../../deploy/local/clock.ts';
import { cloudsYaml } from '../../../deploy/local/openstack/account.ts';
import { startOpenStack } from '../../../deploy/local/openstack/start-openstack.ts';
import { defaultTimes } from '../../../deploy/local/openstack/times.ts';
import { readCloudsYaml } from '../../../shared/runtime/openstack/clouds-yaml.ts';
import { openSession } from '../../../shared/runtime/openstack/session.ts';
import type { OpenStackWorld } from './world.ts';

export type Login = OpenStackWorld['login'];

/** An OpenStack for the stories of one file. */
export interface Services extends Pick<OpenStackWorld, 'hang' | 'setHostUp'> {
  isSimulated: boolean;
  login: Login;
  close(): Promise<void>;
}

const { env } = import.meta as { env?: { MODE?: string } };

/** `--mode slow`, and whatever is more than that. */
export const isSlow = env?.MODE === 'slow' || env?.MODE === 'long';

/** Whether the stories run on real services. */
export const isReal = process.env.OS_AUTH_URL !== undefined;

/** The real services do one thing at a time: asked by every story each second, they would be late for all. */
export const schedules = isReal
  ? { sweep: '*/2 * * * * *', audit: '*/5 * * * * *' }
  : { sweep: '* * * * * *', audit: '*/5 * * * * *' };

/** The services that OS_AUTH_URL and its like name; a simulated OpenStack where they name none. */
export const services = (): Promise<Services> => (isReal ? real() : simulated());

/** A session of that account, in its own project where no other is named. */
export const sessionOf = (login: Login, project?: string) =>
  openSession(
    readCloudsYaml(cloudsYaml(login)),
    { fetch, now: Date.now, watched: (_, run) => run(), renewed: () => undefined, checked: () => undefined },
    project,
  );

/** How many times faster than the real services. */
const timesAt = (speed: number) =>
  Object.fromEntries(
    Object.entries(defaultTimes).map(([what, milliseconds]) => [
      what,
      what === 'token' ? milliseconds : milliseconds / speed,
    ]),
  );

/** As the real services of the tests are set up. */
const quotas = {
  compute: { instances: 200, cores: -1, ram: -1, key_pairs: 500 },
  volume: { volumes: 500, gigabytes: -1 },
};

/** A simulated OpenStack, faster than the real services, and on another address than loopback where others are to reach it. */
export async function simulated({ speed = 3, host }: { speed?: number; host?: string } = {}): Promise<Services> {
  const openStack = await startOpenStack({
    clock: realClock,
    times: timesAt(speed),
    quotas,
    ...(host ? { host } : {}),
  });
  const { userName, password, projectName } = openStack.admin;
  return {
    isSimulated: true,
    login: { authUrl: openStack.authUrl, userName, password, projectName },
    hang: openStack.hang,
    setHostUp: openStack.setHostUp,
    close: openStack.close,
  };
}

async function real(): Promise<Services> {
  const { OS_AUTH_URL = '', OS_USERNAME = '', OS_PASSWORD = '', OS_PROJECT_NAME = '' } = process.env;
  return {
    isSimulated: false,
    login: { authUrl: OS_AUTH_URL, userName: OS_USERNAME, password: OS_PASSWORD, projectName: OS_PROJECT_NAME },
    hang: stopProcess,
    setHostUp: () => {
      throw new Error('expected no host to be taken down: it is the process that answers for Nova, too');
    },
    close: async () => undefined,
  };
}

/** Stops the process of a service (SIGSTOP) and lets it go on after that time; OPENSTACK_RUN is where their pids are. */
function stopProcess(service: string, milliseconds: number): void {
  const names: Readonly<Record<string, string>> = {
    compute: 'nova',
    network: 'neutron',
    volume: 'cinder',
    identity: 'keystone',
  };
  const file = `${process.env.OPENSTACK_DIR ?? '/tmp/openstack'}/run/${names[service]}.pid`;
  const pid = Number(readFileSync(file, 'utf8'));
  process.kill(pid, 'SIGSTOP');
  setTimeout(() => process.kill(pid, 'SIGCONT'), milliseconds);
}
