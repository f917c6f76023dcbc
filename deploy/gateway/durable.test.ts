import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verified } from '../../functions/preload/index.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { telemetryOf } from '../../shared/runtime/telemetry/telemetry.ts';
import { putImage } from '../../test/stories/images.ts';
import { onLocalCluster } from '../../test/stories/local-world.ts';
import { postWithFetch } from '../../test/stories/preload.ts';
import { setPolicy, untilPhase, type World } from '../../test/stories/world.ts';
import { publicationKey } from '../../test/support/builders/publications.ts';
import { event } from '../../test/support/harness/gateway.ts';
import { startTestIssuer } from '../../test/support/tools/token-issuer.ts';
import type { LocalCluster } from '../local/start.ts';
import { imageMaker } from './make-image.ts';
import { startGateway } from './start.ts';

/** Runs with a gateway before that cluster; `publish` posts an image of that name as the CI does, always at the same time. */
async function withGateway(
  { kube, broker }: World,
  use: (publish: (name: string) => Promise<number>) => Promise<void>,
) {
  const issuer = await startTestIssuer('ot-preload');
  const folder = await mkdtemp(join(tmpdir(), 'durable-'));
  const [configFile, keysFolder] = [join(folder, 'gateway.yaml'), join(folder, 'keys')];
  const rule = { name: 'labs', claims: { repository: 'labs/images' }, images: 'lab-*' };
  const ci = { name: 'ci', issuer: issuer.url, caFile: issuer.caFile, audience: 'ot-preload', rules: [rule] };
  await writeFile(configFile, JSON.stringify({ issuers: [ci] }));
  await mkdir(keysFolder);
  await writeFile(join(keysFolder, 'tests'), publicationKey);
  const images = imageMaker(verified, { kube, telemetry: telemetryOf('gateway') });
  const where = { port: 0, host: '127.0.0.1', rereadMs: 3_600_000, tls: 'plain-http' } as const;
  const gateway = await startGateway(
    { configFile, broker: { url: broker, tokenFile: undefined, keysFolder }, ...where },
    images,
    () => undefined,
  );
  const headers = { ...event, 'ce-time': new Date().toISOString(), authorization: `Bearer ${await issuer.token()}` };
  try {
    await use(async (name) => {
      const response = await fetch(gateway.url, { method: 'POST', headers, body: JSON.stringify({ name }) });
      return response.status;
    });
  } finally {
    await gateway.close();
    await images.drain();
    await issuer.close();
    await rm(folder, { recursive: true });
  }
}

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
    await withGateway(world, async (publish) => {
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
