import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { serveImages, sourcesAt } from '../../test/stories/openstack/run.ts';
import { schedules, simulated } from '../../test/stories/openstack/services.ts';
import { setPolicy } from '../../test/stories/world.ts';
import { otIn } from '../../test/support/tools/ot-process.ts';
import { giveAccount } from '../local/openstack/account.ts';
import { type LocalCluster, startLocal } from '../local/start.ts';
import { applyManifests, openStackFolders, readManifests } from '../manifests.ts';
import { Trigger } from './install/kinds.ts';

const namespace = 'on-cloud';

let cluster: LocalCluster;
let openStack: Awaited<ReturnType<typeof simulated>>;
let images: Awaited<ReturnType<typeof serveImages>>;
let folder: string;
beforeAll(async () => {
  openStack = await simulated();
  images = await serveImages();
  cluster = await startLocal({ openStack: true, simulators: false, schedules, gracePeriodMs: 0 });
  folder = await mkdtemp(join(tmpdir(), 'ot-cli-'));
  await writeFile(
    join(folder, 'kubeconfig'),
    cluster.server.kubeconfig().replace('namespace: default', `namespace: ${namespace}`),
  );
  await cluster.kube.create(Namespace, { metadata: { name: namespace } });
  await setPolicy(cluster, { allowedSources: sourcesAt(images.imageUrl('demo')) });
}, 60_000);
afterAll(async () => {
  await cluster.close();
  await images.close();
  await openStack.close();
  await rm(folder, { recursive: true });
});

const ot = (...args: string[]) => otIn({ KUBECONFIG: join(folder, 'kubeconfig') }, ...args);

describe('the command line handles OpenStack objects', { timeout: 90_000 }, () => {
  test('a volume without an account is explained, and the doctor says the same', async () => {
    const { kube } = cluster;
    await kube.create(VirtualNetwork, { metadata: { namespace, name: 'net' }, spec: { cidr: '10.7.0.0/24' } });
    const source = { image: images.imageUrl('demo') };
    await kube.create(Volume, { metadata: { namespace, name: 'disk' }, spec: { size: '1Gi', source } });
    const spec = { vcpu: 1, memory: '64Mi', virtualNetworks: ['net'], diskAttachments: [{ name: 'disk' }] };
    await kube.create(KupenStackMachine, { metadata: { namespace, name: 'demo' }, spec });
    const remedy = /kubectl create secret generic openstack-credentials -n on-cloud --from-file=clouds.yaml=FILE/;
    await expect
      .poll(() => ot('why', 'volume/disk'), { timeout: 30_000 })
      .toMatchObject({
        code: 5,
        out: expect.stringMatching(remedy),
      });
    const doctor = await ot('doctor');
    expect(doctor).toMatchObject({ code: 1, out: expect.stringMatching(remedy) });
    expect(doctor.out).toContain('Secret on-cloud/openstack-credentials');
    expect(await ot('status', 'volumes')).toMatchObject({ code: 5, out: expect.stringContaining('on-cloud/disk') });
  });

  test('with one, wait follows a machine, and status shows its network and volume below it', async () => {
    await giveAccount(cluster.kube, openStack.login);
    const waited = await ot('wait', 'virtualmachines.k/demo', '--timeout', '60s');
    expect(waited).toMatchObject({ code: 0, err: '' });
    expect(waited.out).toMatch(/VirtualMachine\.kupenstack\.io on-cloud\/demo: Running: .*\n$/);
    const status = await ot('status', 'virtualmachine.kupenstack.io/demo');
    expect(status).toMatchObject({ code: 0, err: '' });
    expect(status.out.split('\n').slice(1, 4)).toEqual([
      expect.stringMatching(/^VirtualMachine\.kupenstack\.io on-cloud\/demo +Running /),
      expect.stringMatching(/^├─ VirtualNetwork\.kupenstack\.io on-cloud\/net +Available /),
      expect.stringMatching(/^└─ Volume\.kupenstack\.io on-cloud\/disk +(InUse|Available) /),
    ]);
    expect(await ot('why', 'demo')).toMatchObject({ code: 0 });
  });

  test('a kind that may mean a KubeVirt machine is refused with the kinds that are accepted', async () => {
    const ended = await ot('why', 'vm', 'demo');
    expect(ended).toMatchObject({ code: 2, out: '' });
    expect(ended.err).toMatch(/expected machine, or virtualmachine\.kupenstack\.io/);
  });

  test('the doctor checks the OpenStack functions if they are installed', async () => {
    const named = /^(Trigger|Secret on-cloud|CRD .*kupenstack)/m;
    expect((await ot('doctor')).out).not.toMatch(named);
    await cluster.kube.delete(Trigger, { namespace: operatorNamespace, name: 'provision-server-openstack' });
    expect((await ot('doctor')).out).toMatch(/^Trigger provision-server-openstack\n/m);
    await applyManifests(cluster.kube, await readManifests(...openStackFolders));
    await expect.poll(async () => (await ot('doctor')).out, { timeout: 20_000 }).not.toMatch(named);
  });
});
