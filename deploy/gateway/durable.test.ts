import { expect, test } from 'vitest';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from '../../test/stories/images.ts';
import { onLocalCluster } from '../../test/stories/local-world.ts';
import { postWithFetch } from '../../test/stories/preload.ts';
import { setPolicy, untilPhase, type World } from '../../test/stories/world.ts';
import { event, withGatewayBefore } from '../../test/support/harness/gateway.ts';
import type { LocalCluster } from '../local/start.ts';

test('what the gateway answered with 202 is downloaded once, though the Broker lost all it had and no function heard of it', async () => {
  let cluster: LocalCluster | undefined;
  const run = async (world: World) => {
    await setPolicy(world, {
      imageNamespaces: world.namespace,
      imageUrlTemplate: `${world.store.url}/images/{name}.qcow2`,
      imageDiskSize: '64Mi',
    });
    const size = await putImage(world, 'lab-kept');
    for (const name of ['lab-lost', 'lab-after']) await putImage(world, name);
    const imageOf = (name: string) => world.kube.get(VMDiskImage, { namespace: world.namespace, name });
    await withGatewayBefore(world, async ({ url, token }) => {
      const headers = { ...event, 'ce-time': new Date().toISOString(), authorization: `Bearer ${token}` };
      const publish = async (name: string) =>
        (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ name }) })).status;
      // With no retry under way there is nothing that a longer absence could still lose.
      cluster?.eventing.inject({ drop: 'all' });
      expect(await publish('lab-kept')).toBe(202);
      expect(await postWithFetch(world.broker, { data: { name: 'lab-lost' } })).toBe(202);
      await cluster?.eventing.idle();
      expect((await imageOf('lab-kept'))?.spec).toBeDefined();
      expect((await imageOf('lab-kept'))?.status?.phase).toBeUndefined();
      cluster?.eventing.inject({});
      const kept = await untilPhase(world, 'lab-kept', 'Succeeded');
      expect(kept.status).toMatchObject({ revision: 1, attempts: 1 });
      expect(await publish('lab-kept')).toBe(202);
      expect(await postWithFetch(world.broker, { data: { name: 'lab-after' } })).toBe(202);
      await untilPhase(world, 'lab-after', 'Succeeded');
      expect(await imageOf('lab-lost')).toBeUndefined();
      expect(world.history.starts().filter(({ image }) => image === 'lab-kept')).toHaveLength(1);
      expect(world.store.bytesSent('images/lab-kept.qcow2')).toBeLessThan(2 * size);
    });
  };
  await onLocalCluster({ name: 'durable', run }, undefined, async (started) => {
    cluster = started;
  });
}, 60_000);
