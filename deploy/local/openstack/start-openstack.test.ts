import { afterEach, describe, expect, test } from 'vitest';
import { steppedClock } from '../clock.ts';
import type { Call } from './answer.ts';
import { type OpenStack, type OpenStackOptions, startOpenStack } from './start-openstack.ts';

const started: OpenStack[] = [];

afterEach(async () => {
  for (const openStack of started.splice(0)) await openStack.close();
});

/** An OpenStack on a clock of its own, and its administrator. */
async function begin(options: Partial<OpenStackOptions> = {}) {
  const clock = steppedClock();
  const openStack = await startOpenStack({ clock, ...options });
  started.push(openStack);
  const { projectName, userName, password, domainId } = openStack.admin;
  const domain = { id: domainId };
  const body = {
    auth: {
      identity: { methods: ['password'], password: { user: { name: userName, domain, password } } },
      scope: { project: { name: projectName, domain } },
    },
  };
  const logIn = async () => {
    const answer = await fetch(`${openStack.authUrl}/auth/tokens`, { method: 'POST', body: JSON.stringify(body) });
    const { token } = (await answer.json()) as { token: { project: { id: string } } };
    return { token: answer.headers.get('x-subject-token') ?? '', project: token.project.id };
  };
  const { token, project } = await logIn();
  const base = openStack.authUrl.replace('/identity/v3', '');
  const prefixes = {
    compute: '/compute/v2.1',
    network: '/network/v2.0',
    volume: `/volume/v3/${project}`,
    image: '/image/v2',
  };
  const ask = async (method: string, service: keyof typeof prefixes, path: string, sent?: unknown, as = token) => {
    const headers = { 'x-auth-token': as, 'openstack-api-version': 'compute 2.79' };
    const answer = await fetch(`${base}${prefixes[service]}${path}`, {
      method,
      headers,
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: (text ? JSON.parse(text) : {}) as Body };
  };
  return { clock, openStack, ask, logIn };
}

type Body = Record<string, Record<string, unknown>>;
type Ask = Awaited<ReturnType<typeof begin>>['ask'];

/** A volume to boot from and a server on it. */
async function boot(ask: Ask, clock: { step(ms: number): void }) {
  const volume = (await ask('POST', 'volume', '/volumes', { volume: { size: 1 } })).body.volume?.id;
  clock.step(300);
  await ask('POST', 'volume', `/volumes/${volume}/action`, { 'os-set_bootable': { bootable: true } });
  const flavor = (await ask('POST', 'compute', '/flavors', { flavor: { name: 'f', vcpus: 1, ram: 64, disk: 0 } })).body
    .flavor?.id;
  const block_device_mapping_v2 = [{ uuid: volume, source_type: 'volume', destination_type: 'volume', boot_index: 0 }];
  const made = await ask('POST', 'compute', '/servers', {
    server: { name: 's', flavorRef: flavor, networks: 'none', block_device_mapping_v2 },
  });
  return { id: made.body.server?.id, volume, flavor };
}

const stateOf = ({ body: { server } }: { body: Body }) => [server?.status, server?.['OS-EXT-STS:task_state']];

describe('time is the clock’s', () => {
  test('a token expires after its hour', async () => {
    const { clock, ask } = await begin();
    clock.step(3_599_999);
    expect((await ask('GET', 'compute', '/servers')).status).toBe(200);
    clock.step(1);
    expect((await ask('GET', 'compute', '/servers')).status).toBe(401);
  });

  test('a server passes each stage of its boot', async () => {
    const { clock, ask } = await begin();
    const { id } = await boot(ask, clock);
    const seen = [stateOf(await ask('GET', 'compute', `/servers/${id}`))];
    for (let stage = 0; stage < 5; stage++) {
      clock.step(300);
      seen.push(stateOf(await ask('GET', 'compute', `/servers/${id}`)));
    }
    expect(seen).toEqual([
      ['BUILD', 'scheduling'],
      ['BUILD', null],
      ['BUILD', 'networking'],
      ['BUILD', 'block_device_mapping'],
      ['BUILD', 'spawning'],
      ['ACTIVE', null],
    ]);
  });
});

describe('faults', () => {
  test('the next calls are refused, in the words of the service, and nothing is done', async () => {
    const { openStack, ask } = await begin();
    openStack.failNext('createNetwork', 503, 2, { 'retry-after': '7' });
    const refused = await ask('POST', 'network', '/networks', { network: { name: 'n' } });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '7']);
    expect(refused.body.NeutronError).toMatchObject({ message: 'Service Unavailable' });
    expect((await ask('POST', 'network', '/networks', { network: { name: 'n' } })).status).toBe(503);
    expect((await ask('POST', 'network', '/networks', { network: { name: 'n' } })).status).toBe(201);
    expect((await ask('GET', 'network', '/networks')).body.networks).toHaveLength(1);
  });

  test('an answer is lost after the work is done', async () => {
    const { openStack, ask } = await begin();
    openStack.loseAnswer('createVolume');
    await expect(ask('POST', 'volume', '/volumes', { volume: { size: 1 } })).rejects.toThrow();
    expect((await ask('GET', 'volume', '/volumes')).body.volumes).toHaveLength(1);
  });

  test('a service that hangs answers when it continues, the others immediately', async () => {
    const { clock, openStack, ask } = await begin();
    openStack.hang('compute', 5_000);
    let isAnswered = false;
    const waiting = ask('GET', 'compute', '/servers').then(({ status }) => {
      isAnswered = true;
      return status;
    });
    expect((await ask('GET', 'network', '/networks')).status).toBe(200);
    expect(isAnswered).toBe(false);
    clock.step(5_000);
    expect(await waiting).toBe(200);
  });

  test('a service that is cut off cannot be reached until the fault ends', async () => {
    const { clock, openStack, ask } = await begin();
    openStack.cutOff('network', 1_000);
    await expect(ask('GET', 'network', '/networks')).rejects.toThrow();
    clock.step(1_000);
    expect((await ask('GET', 'network', '/networks')).status).toBe(200);
  });

  test.each([
    { work: 'createVolume' as const, status: 'error' },
    { work: undefined, status: 'available' },
  ])('a volume whose $work fails is $status', async ({ work, status }) => {
    const { clock, openStack, ask } = await begin();
    if (work) openStack.failWork(work);
    const id = (await ask('POST', 'volume', '/volumes', { volume: { size: 1 } })).body.volume?.id;
    clock.step(300);
    expect((await ask('GET', 'volume', `/volumes/${id}`)).body.volume?.status).toBe(status);
  });

  test('a boot that fails leaves the server in ERROR with its host', async () => {
    const { clock, openStack, ask } = await begin();
    openStack.failWork('boot');
    const { id } = await boot(ask, clock);
    clock.step(5_000);
    const { server } = (await ask('GET', 'compute', `/servers/${id}`)).body;
    expect([server?.status, server?.['OS-EXT-SRV-ATTR:host']]).toEqual(['ERROR', 'fakehost']);
  });

  test('with its host down a server keeps its task, which administrators see', async () => {
    const { clock, openStack, ask } = await begin();
    const { id } = await boot(ask, clock);
    clock.step(5_000);
    openStack.setHostUp(false);
    await ask('POST', 'compute', `/servers/${id}/action`, { 'os-stop': null });
    clock.step(60_000);
    const down = await ask('GET', 'compute', `/servers/${id}`);
    expect([...stateOf(down), down.body.server?.host_status]).toEqual(['ACTIVE', 'powering-off', 'DOWN']);
    openStack.setHostUp(true);
    expect(stateOf(await ask('GET', 'compute', `/servers/${id}`))).toEqual(['SHUTOFF', null]);
  });
});

describe('one run', () => {
  test('reports each call with its request and answer', async () => {
    const { openStack, ask } = await begin();
    const calls: Call[] = [];
    const off = openStack.onCall((call) => calls.push(call));
    await ask('POST', 'network', '/networks', { network: { name: 'n' } });
    await ask('GET', 'compute', '/servers/none?a=b%20c');
    off();
    await ask('GET', 'compute', '/servers/none');
    expect(calls).toEqual([
      {
        service: 'network',
        method: 'POST',
        path: '/v2.0/networks',
        query: '',
        operation: 'createNetwork',
        status: 201,
      },
      {
        service: 'compute',
        method: 'GET',
        path: '/servers/none',
        query: 'a=b%20c',
        operation: 'showServer',
        status: 404,
      },
    ]);
  });

  test('has the same ids as another that began at the same time, and others than a later one', async () => {
    const later = steppedClock(Date.parse('2026-02-01T00:00:00Z'));
    const [first, second, third] = [await begin(), await begin(), await begin({ clock: later })];
    const [a, b, c] = [(await first.logIn()).project, (await second.logIn()).project, (await third.logIn()).project];
    expect([a === b, a === c]).toEqual([true, false]);
  });
});
