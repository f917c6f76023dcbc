import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock } from '../../deploy/local/clock.ts';
import { giveAccount } from '../../deploy/local/openstack/account.ts';
import { type OpenStack, startOpenStack } from '../../deploy/local/openstack/start-openstack.ts';
import { type LocalCluster, startLocal } from '../../deploy/local/start.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { hasKubectl, kubectl } from '../stories/local-world.ts';
import { serveImages, sourcesAt } from '../stories/openstack/run.ts';
import {
  createMachine,
  createNetwork,
  createVolume,
  isReady,
  isWaitingFor,
  type OpenStackWorld,
  untilGone,
  untilMachine,
} from '../stories/openstack/world.ts';
import { setPolicy } from '../stories/world.ts';

const example = fileURLToPath(new URL('../../crds/examples/kupenstack-virtual-machine.yaml', import.meta.url));
const isThere = await hasKubectl();
if (!isThere) console.warn('skipped: what kubectl prints of machines on OpenStack needs kubectl on the PATH');

describe.skipIf(!isThere)("the design's own manifest, with kubectl", () => {
  let openStack: OpenStack;
  let images: Awaited<ReturnType<typeof serveImages>>;
  let cluster: LocalCluster;
  let folder: string;
  let run: ReturnType<typeof kubectl>;
  let world: OpenStackWorld;
  beforeAll(async () => {
    openStack = await startOpenStack({ clock: realClock });
    images = await serveImages();
    cluster = await startLocal({ openStack: true, simulators: false, schedules: { sweep: '* * * * * *' } });
    folder = await mkdtemp(join(tmpdir(), 'ot-columns-'));
    await writeFile(join(folder, 'kubeconfig'), cluster.server.kubeconfig());
    run = kubectl(join(folder, 'kubeconfig'));
    await giveAccount(cluster.kube, { authUrl: openStack.authUrl, ...openStack.admin });
    world = { kube: cluster.kube, namespace: 'default' } as OpenStackWorld;
    await setPolicy(cluster, { allowedSources: sourcesAt(images.imageUrl('disk.raw')) });
    for (const [name, third] of [
      ['net-db', 120],
      ['net-backend', 150],
      ['net-front-link', 90],
    ])
      await createNetwork(world, String(name), { cidr: `10.10.${third}.0/24` });
    await createVolume(world, 'myvol', { source: { image: images.imageUrl('disk.raw') } });
    for (const name of ['vol-db', 'vol-users-creds']) await createVolume(world, name);
  }, 60_000);
  afterAll(async () => {
    await cluster?.close();
    await images?.close();
    await openStack?.close();
    await rm(folder, { recursive: true });
  });

  test('applies as it stands; its invalid key is reported in the words of Nova', async () => {
    expect(await run('apply', '-f', example)).toMatchObject({ code: 0, err: '' });
    const { status } = await untilMachine(world, 'sample-vm', isWaitingFor('Refused'));
    expect(status?.message).toMatch(/OpenStack refuses the machine as it is asked for: .*[Kk]eypair/);
    await run('delete', '-f', example);
    await untilGone(world, KupenStackMachine, 'sample-vm');
  }, 60_000);

  test('has its two sets of columns, and no others', async () => {
    await createMachine(world, 'sample-vm', {
      vcpu: 3,
      memory: '500Mi',
      swap: '1Gi',
      virtualNetworks: ['net-db', 'net-backend', 'net-front-link'],
      diskAttachments: [{ name: 'myvol' }, { name: 'vol-db' }, { name: 'vol-users-creds' }],
    });
    await untilMachine(world, 'sample-vm', isReady);
    const get = async (...more: string[]) =>
      (await run('get', 'virtualmachines.kupenstack.io', ...more)).out
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd());
    const [head, row] = await get();
    expect(head?.split(/ {2,}/)).toEqual(['NAME', 'STATUS', 'RESTARTS', 'AGE']);
    expect(row).toMatch(/^sample-vm +Running +0 +\d+s$/);
    const [wideHead, wideRow] = await get('-o', 'wide');
    expect(wideHead?.split(/ {2,}/)).toEqual(['NAME', 'STATUS', 'RESTARTS', 'AGE', 'NODE', 'NETWORKS(IP)']);
    expect(wideRow).toMatch(
      /^sample-vm +Running +0 +\d+s +fakehost +net-db\(10\.10\.120\.\d+\), net-backend\(10\.10\.150\.\d+\), net-front-link\(10\.10\.90\.\d+\)$/,
    );
    // `vm` is KubeVirt's here.
    expect((await run('get', 'vn', 'net-db')).out).toContain('10.10.120.0/24');
    expect((await run('wait', '--for=condition=Ready', 'virtualmachines.kupenstack.io/sample-vm')).code).toBe(0);
  }, 60_000);
});
