import { describe, expect, test } from 'vitest';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { GlanceImage, listImages } from '../../shared/kinds/openstack/image.ts';
import { CinderVolume, listVolumes } from '../../shared/kinds/openstack/volume.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyName } from '../../shared/policy.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { byHand, sessionOf, stageMs } from '../../test/support/harness/openstack-harness.ts';
import { withTwoAccounts } from '../../test/support/harness/two-accounts.ts';
import declaration from './index.ts';

const harness = await withTwoAccounts(declaration, Volume, () => ({ size: '1Gi' }));
const { kube, clock, openStack, reads, red, blue, create, statusOf, reasonOf, settle } = harness;
/** The images that were asked for, by what they were asked by. */
const imageReads = () => reads.filter((read) => read.startsWith('image'));

describe('an event', () => {
  test('is about one volume: it is read, then its policy, its credentials and the volumes that carry its uid', async () => {
    await create('red', 'first');
    const process = harness.begin();
    await settle(process, 'red', 'first');
    expect(await statusOf('red', 'first')).toMatchObject({ phase: 'Available', ready: true });
    reads.length = 0;
    expect(await process.changed(Volume, { namespace: 'red', name: 'first' })).toBe(202);
    const [project] = reads.flatMap((read) => /^volume \/(\w+)\//.exec(read)?.slice(1) ?? []);
    const { uid } = (await kube.get(Volume, { namespace: 'red', name: 'first' }))?.metadata ?? {};
    expect([...reads].sort()).toEqual([
      `get ConfigMap ${operatorNamespace}/${policyName}`,
      `get Secret red/${credentialsName}`,
      'get Volume red/first',
      `volume /${project}/volumes/detail?metadata={"kupenstack:uid":"${uid}"}`,
    ]);
  });
  test('about a volume from an image reads images until the volume exists', async () => {
    await create('red', 'filled', { source: { image: 'https://images.example.com/cirros.img' } });
    const process = harness.begin();
    reads.length = 0;
    await settle(process, 'red', 'filled');
    expect(imageReads().length).toBeGreaterThan(0);
    expect(await statusOf('red', 'filled')).toMatchObject({ phase: 'Available', bootable: true });
    reads.length = 0;
    await process.changed(Volume, { namespace: 'red', name: 'filled' });
    expect(imageReads()).toEqual([]);
  });
  test('about a volume whose image could not be deleted tries that again', async () => {
    await create('red', 'heavy', { source: { image: 'https://images.example.com/cirros.img' } });
    const unwilling = (async (url: string, init?: RequestInit) =>
      init?.method === 'DELETE' && url.includes('/v2/images/')
        ? new Response('', { status: 503 })
        : fetch(url, init)) as typeof fetch;
    await settle(harness.begin({ fetch: unwilling }), 'red', 'heavy');
    expect(await statusOf('red', 'heavy')).toMatchObject({ phase: 'Available', imageLeft: true });
    await harness.begin().audit();
    const uid = (await kube.get(Volume, { namespace: 'red', name: 'heavy' }))?.metadata.uid ?? '';
    expect(
      await sessionOf(red, clock.now).list(
        listImages({ uid, owner: (await sessionOf(red, clock.now).login()).project.id }),
        'images',
        GlanceImage,
      ),
    ).toEqual([]);
    expect((await statusOf('red', 'heavy'))?.imageLeft).toBeUndefined();
  });
  test('of the sweep is about those that are not Ready, of the audit about all', async () => {
    await create('blue', 'second');
    const process = harness.begin();
    reads.length = 0;
    expect(await process.sweep()).toBe(202);
    expect(reads[0]).toBe('list Volume');
    expect(reads).not.toContain(`get Secret red/${credentialsName}`);
    reads.length = 0;
    expect(await process.audit()).toBe(202);
    expect(reads[0]).toBe('list Volume');
    expect(reads).toContain(`get Secret red/${credentialsName}`);
  });
  describe('about a machine, which alone reports what servers have,', () => {
    const id = '9c1e4d5a-0000-4000-8000-000000000001';
    /** A volume whose status says that the server has it, which Cinder has let go. */
    const letGo = async (name: string, server = id) => {
      await create('red', name);
      await settle(harness.begin(), 'red', name);
      await kube.patch(Volume, { namespace: 'red', name }, { status: { server } }, { subresource: 'status' });
      reads.length = 0;
    };
    const volumesRead = () => reads.filter((read) => /^(get|list) Volume/.test(read)).sort();
    const vm = { namespace: 'red', name: 'vm' };

    test('is about the volumes that it names and, until it has a server, those that any has', async () => {
      await create('red', 'attached');
      const process = harness.begin();
      await settle(process, 'red', 'attached');
      const { id: own } = (await statusOf('red', 'attached')) ?? {};
      const session = sessionOf(red, clock.now);
      await session.send(byHand('volume', 'POST', `/volumes/${own}/action`, { 'os-set_bootable': { bootable: true } }));
      const spec = { vcpu: 1, memory: '64Mi', diskAttachments: [{ name: 'attached' }, { name: 'nobodys' }] };
      await kube.create(KupenStackMachine, { metadata: vm, spec });
      reads.length = 0;
      await process.changed(KupenStackMachine, vm);
      expect(volumesRead()).toEqual([
        'get Volume red/attached',
        'get Volume red/nobodys',
        'list Volume red status.server!=',
      ]);
      expect(await statusOf('red', 'attached')).toMatchObject({ bootable: true });
      expect(reads).not.toContain(`get Secret blue/${credentialsName}`);
    });
    test('is about those that its server had', async () => {
      await kube.patch(KupenStackMachine, vm, { status: { id } }, { subresource: 'status' });
      await letGo('unnamed');
      await letGo('of-another', 'other');
      await harness.begin().changed(KupenStackMachine, vm);
      expect(volumesRead()).toEqual([
        'get Volume red/attached',
        'get Volume red/nobodys',
        `list Volume red status.server=${id}`,
      ]);
      expect((await statusOf('red', 'unnamed'))?.server).toBeUndefined();
      expect((await statusOf('red', 'of-another'))?.server).toBe('other');
    });
    test.each([
      ['is gone', { namespace: 'red', name: 'gone-by-now' }, undefined],
      ['has an id that selects nothing', vm, 'a\\,b'],
    ])('that %s is about those that any server has', async (_, ref, otherId) => {
      if (otherId) await kube.patch(KupenStackMachine, vm, { status: { id: otherId } }, { subresource: 'status' });
      await letGo(`left-${ref.name}`);
      await harness.begin().changed(KupenStackMachine, ref);
      expect(volumesRead()).toContain('list Volume red status.server!=');
      expect((await statusOf('red', `left-${ref.name}`))?.server).toBeUndefined();
    });
  });
  test('of the sweep is also about a volume that did not grow', async () => {
    await create('red', 'grows');
    const process = harness.begin();
    await settle(process, 'red', 'grows');
    await kube.patch(Volume, { namespace: 'red', name: 'grows' }, { spec: { size: '2Gi' } });
    openStack.failNext('extendVolume', 413);
    await process.changed(Volume, { namespace: 'red', name: 'grows' });
    expect(await reasonOf('red', 'grows')).toBe('QuotaExceeded');
    await process.sweep();
    clock.step(10 * stageMs);
    await process.sweep();
    expect(await statusOf('red', 'grows')).toMatchObject({ size: '2Gi' });
  });
});

describe('two namespaces with accounts of their own', () => {
  test('have volumes of one name, each in its project', async () => {
    const process = harness.begin();
    for (const namespace of ['red', 'blue']) {
      await create(namespace, 'disk');
      await settle(process, namespace, 'disk');
    }
    const [a, b] = [await statusOf('red', 'disk'), await statusOf('blue', 'disk')];
    expect(a?.id).toBeDefined();
    expect(a?.id).not.toBe(b?.id);
    const names = async (account: typeof red) =>
      (await sessionOf(account, clock.now).list(listVolumes(), 'volumes', CinderVolume)).map(({ name }) => name);
    expect(await names(red)).toContain('first');
    expect(await names(blue)).not.toContain('first');
  });
  test("do not fill volumes from one another's images", async () => {
    const session = sessionOf(red, clock.now);
    const body = { name: 'ours', disk_format: 'raw', container_format: 'bare', visibility: 'private' };
    await session.send(byHand('image', 'POST', '/v2/images', body));
    for (const namespace of ['red', 'blue']) await create(namespace, 'from-ours', { source: { image: 'ours' } });
    await harness.begin().sweep();
    expect(await reasonOf('red', 'from-ours')).toBe('ImageNotActive');
    expect(await reasonOf('blue', 'from-ours')).toBe('ImageMissing');
  });
  test('do not wait for one another where one has a fault', async () => {
    await harness.namespace('grey', { ...red, password: 'wrong' });
    await create('grey', 'stuck');
    await create('blue', 'goes-on');
    const process = harness.begin();
    for (let looks = 0; looks < 3; looks++) {
      expect(await process.sweep()).toBe(202);
      clock.step(10 * stageMs);
    }
    expect(await reasonOf('grey', 'stuck')).toBe('CredentialsRefused');
    expect(await reasonOf('blue', 'goes-on')).toBe('Available');
  });
});

test('the credentials are in no action, log or span, whether they are good or not', () =>
  harness.expectSecrecy('listVolumes'));
