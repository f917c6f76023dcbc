import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { qcow2Buffer } from '../../../deploy/local/object-store/qcow2.ts';
import { giveAccount } from '../../../deploy/local/openstack/account.ts';
import { type LocalCluster, startLocal } from '../../../deploy/local/start.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { keyPairName } from '../../../shared/kinds/openstack/key-pair.ts';
import { setPolicy, until } from '../world.ts';
import { isReal, isSlow, type Services, schedules, sessionOf } from './services.ts';
import { contentOf, newNamespace, type OpenStackStory, type OpenStackWorld, projectOf } from './world.ts';

const onlySlow = 'it takes long there: npm run test:openstack -- --mode slow';

/**
 * Declares a test for each story: on one local cluster, each in a namespace and so in a project of its own, several at once where
 * none of them touches what all share.
 */
export function runOnOpenStack(
  group: string,
  stories: readonly OpenStackStory[],
  services: () => Promise<Services>,
  isTogether = true,
): void {
  describe(group, () => {
    let cluster: LocalCluster;
    let openStack: Services;
    let images: Awaited<ReturnType<typeof serveImages>>;
    beforeAll(async () => {
      openStack = await services();
      images = await serveImages();
      cluster = await startLocal({ openStack: true, simulators: false, schedules });
      await setPolicy(cluster, { ...quickPolicy, allowedSources: sourcesAt(images.imageUrl('')) });
      await giveAccount(cluster.kube, openStack.login);
    }, 60_000);
    afterAll(async () => {
      await cluster?.close();
      await images?.close();
      await openStack?.close();
    }, 60_000);
    for (const story of stories) {
      const why = story.simulatedOnly ?? (story.isLong && !isSlow ? onlySlow : undefined);
      if (why && isReal) console.warn(`skipped: "${story.name}": ${why}`);
      const declare = isTogether && !isReal ? test.concurrent : test;
      declare(
        story.name,
        async (context) => {
          context.skip(why !== undefined && !openStack.isSimulated, why);
          await runStory(story, { cluster, openStack, images });
        },
        180_000,
      );
    }
  });
}

/** The line of the policy for everything where this image is. */
export const sourcesAt = (image: string) => new URL('/**', image).href;

/**
 * What the stories go by: nothing is waited for longer than it has to be. On real services, which take a second for each answer, what
 * failed is seen before it is tried again.
 */
export const quickPolicy = {
  serverRecoverAfter: '1s',
  unreachableHostRecoverAfter: '1s',
  retryBackoffDuration: isReal ? '5s' : '1s',
  retryLimit: '2',
};

/** One story in a namespace of its own, of which nothing is left at its end. */
export async function runStory(
  story: OpenStackStory,
  { cluster, openStack, images }: { cluster: Pick<LocalCluster, 'kube'>; openStack: Services; images: Images },
) {
  const world: OpenStackWorld = { ...worldIn(cluster, openStack), ...images };
  await cluster.kube.create(Namespace, { metadata: { name: world.namespace } });
  await story.run(world);
  await leaveNothing(world);
}

type Images = Pick<OpenStackWorld, 'imageUrl' | 'letDownload'>;

/** A namespace that is not there yet, and OpenStack's administrator. */
export function worldIn(
  { kube }: Pick<LocalCluster, 'kube'>,
  { login, hang, setHostUp }: Services,
): Omit<OpenStackWorld, keyof Images> & Record<keyof Images, () => never> {
  const within = (project?: string) => sessionOf(login, project);
  const imageUrl = () => {
    throw new Error('expected no image to be asked for');
  };
  const of = { namespace: newNamespace(), admin: within(), within, login };
  return { kube, ...of, hang, setHostUp, imageUrl, letDownload: imageUrl };
}

/** Deletes all objects of the story, machines first, and sees that nothing of them is left in its project. */
export async function leaveNothing(world: OpenStackWorld): Promise<void> {
  const { kube, namespace } = world;
  const project = await projectOf(world).catch(() => undefined);
  const machines = await kube.list(KupenStackMachine, { namespace });
  for (const kind of [KupenStackMachine, Volume, VirtualNetwork]) {
    const objects = await kube.list<KupenStackMachine | Volume | VirtualNetwork>(kind as never, { namespace });
    for (const { metadata } of objects) await kube.delete(kind, metadata);
    for (const { metadata } of objects) {
      await until({ kube }, kind as typeof Volume, metadata, (object) => object === undefined, 90_000);
    }
  }
  if (project) {
    const { keyPairs, ...left } = await contentOf(project);
    expect(left).toEqual({ servers: [], volumes: [], networks: [], ports: [], images: [] });
    // They belong to the account, which other stories have at the same time.
    const own = machines.map(({ metadata }) => keyPairName(metadata.uid));
    expect(keyPairs.filter(({ keypair }) => own.includes(keypair.name))).toEqual([]);
  }
  await kube.delete(Namespace, { name: namespace });
}

/**
 * A web server with images of a megabyte. In a name, `large` is a disk of 2 GiB, `missing` is not there, and the second half of
 * what is `held` comes once `letDownload` was called.
 */
export async function serveImages() {
  const large = qcow2Buffer({ virtualBytes: 2 * 2 ** 30, dataBytes: 0, seed: 'large' });
  const { promise: released, resolve: letDownload } = Promise.withResolvers<void>();
  const server = createServer(async ({ url = '', method }, response) => {
    if (url.includes('missing')) return response.writeHead(404).end();
    const image = url.includes('large') ? large : Buffer.alloc(1024 * 1024);
    response.writeHead(200, { 'content-length': String(image.length) });
    if (method === 'HEAD') return response.end();
    const half = image.length / 2;
    response.write(image.subarray(0, half));
    if (url.includes('held')) await released;
    return response.end(image.subarray(half));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    imageUrl: (name: string) => `http://127.0.0.1:${port}/${name}`,
    letDownload,
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}
