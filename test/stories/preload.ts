import { execFile } from 'node:child_process';
import { expect } from 'vitest';
import { imagePublished } from '../../shared/events.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { nextSecond, signed } from '../support/builders/publications.ts';
import { untilWarning, warningsOf } from './events.ts';
import { putImage } from './images.ts';
import { byName, type Story, setPolicy, until, untilPhase, type World } from './world.ts';

/** An event as a pipeline says it: what differs from a plain publication, and the data. */
interface Publication {
  id?: string;
  /** When it is signed, in milliseconds since 1970. */
  atMs?: number;
  isUnsigned?: boolean;
  type?: string;
  /** The trace that it is part of, as W3C writes it. */
  traceparent?: string;
  data: unknown;
}

/** Posts a publication to the Broker; resolves with the status of its answer. */
export type Post = (broker: string, publication: Publication) => Promise<number>;

function attributesOf({ type = imagePublished, traceparent, isUnsigned, data, ...options }: Publication) {
  const { id, ...signature } = signed(data, options);
  const attributes = {
    specversion: '1.0',
    id,
    source: 'https://ci.example/pipelines/7',
    type,
    ...(isUnsigned ? {} : signature),
    ...(traceparent ? { traceparent } : {}),
  };
  return Object.entries(attributes);
}

/** With curl, as a shell in a pipeline would; the program's own exit code has to agree with the answer. */
export const postWithCurl: Post = (broker, publication) => {
  const headers = [
    ...attributesOf(publication).map(([name, value]) => [`ce-${name}`, value]),
    ['content-type', 'application/json'],
  ];
  const args = [
    ...['--silent', '--show-error', '--fail-with-body', '--output', '/dev/null', '--write-out', '%{http_code}'],
    ...headers.flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...['--data', JSON.stringify(publication.data), broker],
  ];
  return new Promise((resolve, reject) => {
    execFile('curl', args, { timeout: 15_000 }, (error, out, err) => {
      const status = Number(out);
      const isAsSaid = (error === null) === status < 400;
      return status > 0 && isAsSaid ? resolve(status) : reject(new Error(`curl: ${err || error?.message}`));
    });
  });
};

/** With fetch, in structured mode: the event is the body. */
export const postWithFetch: Post = async (broker, publication) => {
  const event = {
    ...Object.fromEntries(attributesOf(publication)),
    datacontenttype: 'application/json',
    data: publication.data,
  };
  // A Broker may re-encode it as it likes.
  const body = JSON.stringify(event, undefined, 2);
  const headers = { 'content-type': 'application/cloudevents+json' };
  return (await fetch(broker, { method: 'POST', headers, body })).status;
};

/** Publications that name an image and nothing else make it, in the namespace of the story, from the store's bucket of images. */
export const takePublications = (world: World) =>
  setPolicy(world, {
    imageNamespaces: world.namespace,
    imageUrlTemplate: `${world.store.url}/images/{name}.qcow2`,
  });

/** Whether curl is on the PATH. */
export const hasCurl = () =>
  new Promise<boolean>((resolve) => execFile('curl', ['--version'], (error) => resolve(error === null)));

/** What an admin sets once so that a name and a version are enough of an event. */
const setUp = (world: World) =>
  setPolicy(world, {
    imageNamespaces: world.namespace,
    imageUrlTemplate: `${world.store.url}/images/{name}/{version}/vm.qcow2`,
    imageStorageClass: 'gp3',
    imageSnapshotClass: 'ebs-snapshot',
    imageSecretRef: 's3-reader',
    imageDiskSize: '64Mi',
  });

const putVersion = (world: World, name: string, version: string) =>
  putImage(world, `${name} ${version}`, { key: `${name}/${version}/vm.qcow2` });

const imagesIn = async ({ kube, namespace }: World) =>
  (await kube.list(VMDiskImage, { namespace })).map(({ metadata }) => metadata.name);

const untilRevision = (world: World, name: string, revision: number) =>
  until(
    world,
    VMDiskImage,
    { namespace: world.namespace, name },
    (image) => image?.status?.phase === 'Succeeded' && image.status.snapshot?.revision === revision,
  );

/** Publishes an image, waits until it is ready, and so knows that what was posted before has had its turn as well. */
async function publishAnother(world: World, post: Post) {
  await putVersion(world, 'another', '1');
  expect(await post(world.broker, { id: 'another', data: { name: 'another', version: '1' } })).toBe(202);
  await untilPhase(world, 'another', 'Succeeded');
}

/** The stories of a pipeline that posts its events in this way. */
export const storiesWith = (how: string, post: Post): readonly Story[] =>
  byName<Story>({
    [`one POST with ${how} makes an image that becomes ready`]: {
      onDeployments: true,
      quick: true,
      smoke: true,
      run: async (world) => {
        await setUp(world);
        await putVersion(world, 'ubuntu', '24.04');
        const data = { name: 'ubuntu', version: '24.04' };
        expect(await post(world.broker, { data })).toBe(202);
        const { metadata, spec, status } = await untilPhase(world, 'ubuntu', 'Succeeded');
        expect(spec).toEqual({
          name: 'ubuntu',
          url: `${world.store.url}/images/ubuntu/24.04/vm.qcow2`,
          sourceType: 's3',
          secretRef: 's3-reader',
          storageClass: 'gp3',
          snapshotClass: 'ebs-snapshot',
          diskSize: '64Mi',
        });
        expect(metadata).toMatchObject({
          labels: { 'app.kubernetes.io/created-by': 'preload', 'app.kubernetes.io/version': '24.04' },
          finalizers: ['pelotech.ot/disk-image'],
        });
        expect(status).toMatchObject({ attempts: 1, revision: 1 });
      },
    },
    [`the same event twice is one download, another digest is the next revision (${how})`]: async (world) => {
      await setUp(world);
      const size = await putVersion(world, 'ubuntu', 'latest');
      const published = (digest: string) => ({ name: 'ubuntu', version: 'latest', digest });
      const send = (id: string, digest: string, atMs = nextSecond()) =>
        post(world.broker, { id, atMs, data: published(digest) });
      const firstMs = nextSecond();
      expect([await send('1', 'sha256:aa', firstMs), await send('1', 'sha256:aa', firstMs)]).toEqual([202, 202]);
      await untilPhase(world, 'ubuntu', 'Succeeded');
      // The pipeline ran once more and made the very same image.
      expect([await send('1', 'sha256:aa', firstMs), await send('2', 'sha256:aa')]).toEqual([202, 202]);
      await publishAnother(world, post);
      expect(world.history.starts().filter(({ image }) => image === 'ubuntu')).toHaveLength(1);
      expect(world.store.bytesSent('images/ubuntu/latest/vm.qcow2')).toBeLessThan(2 * size);
      await send('3', 'sha256:bb');
      const second = await untilRevision(world, 'ubuntu', 2);
      expect(second?.status).toMatchObject({ revision: 2, attempts: 1 });
      expect(world.history.starts().filter(({ image }) => image === 'ubuntu')).toHaveLength(2);
    },
    [`an older event that comes late changes nothing (${how})`]: async (world) => {
      await setUp(world);
      for (const version of ['1', '2']) await putVersion(world, 'ubuntu', version);
      const [firstMs, secondMs] = [nextSecond(), nextSecond()];
      await post(world.broker, { id: 'b', atMs: secondMs, data: { name: 'ubuntu', version: '2' } });
      await untilPhase(world, 'ubuntu', 'Succeeded');
      await post(world.broker, { id: 'a', atMs: firstMs, data: { name: 'ubuntu', version: '1' } });
      await publishAnother(world, post);
      const image = await untilPhase(world, 'ubuntu', 'Succeeded');
      expect(image.spec.url).toContain('/ubuntu/2/');
      expect(image.status?.revision).toBe(1);
    },
    [`an event that is not signed is taken by the Broker and writes nothing, and a Warning Event says how to sign it (${how})`]:
      {
        quick: true,
        smoke: true,
        run: async (world) => {
          await setUp(world);
          await putVersion(world, 'ubuntu', '1');
          expect(await post(world.broker, { isUnsigned: true, data: { name: 'ubuntu', version: '1' } })).toBe(202);
          const warning = await untilWarning(world, 'sync-operator', 'PublisherNotAuthenticated');
          expect(warning.message).toContain('Sign it with a key of Secret sync-operator/publication-keys');
          await publishAnother(world, post);
          expect(await imagesIn(world)).toEqual(['another']);
        },
      },
    [`data that does not fit is taken by the Broker and writes nothing; no event at all is refused (${how})`]: {
      onDeployments: true,
      smoke: true,
      run: async (world) => {
        await setUp(world);
        const unfit = [
          { version: '1' },
          { name: 'Not A Name', version: '1' },
          { name: 'bad-size', version: '1', diskSize: 'large' },
          { name: 'steals-a-secret', version: '1', secretRef: 'admin' },
          { name: 'no-version' },
          'ubuntu',
          null,
          [],
        ];
        for (const data of unfit) expect(await post(world.broker, { data })).toBe(202);
        expect(await post(world.broker, { type: 'ot.pelotech.image.published.v9', data: { name: 'x' } })).toBe(202);
        expect((await fetch(world.broker, { method: 'POST', body: '{"name":"ubuntu"}' })).status).toBe(400);
        await publishAnother(world, post);
        expect(await imagesIn(world)).toEqual(['another']);
        const message = (await untilWarning(world, 'sync-operator', 'PublishedImageNotMade')).message;
        expect(message).toContain(
          "expected version in the event (the policy's imageUrlTemplate asks for it), found none",
        );
      },
    },
    [`a namespace outside imageNamespaces gets no image, and a Warning Event says which there are (${how})`]: {
      provesPermissions: {},
      run: async (world) => {
        await setUp(world);
        const data = { name: 'ubuntu', version: '1', namespace: 'kube-system' };
        expect(await post(world.broker, { data })).toBe(202);
        const warning = await untilWarning(world, 'sync-operator', 'PublishedImageNotMade');
        expect(warning).toMatchObject({
          involvedObject: { kind: 'ConfigMap', name: 'sync-operator-policy' },
          source: { component: 'preload' },
        });
        expect(warning.message).toContain(`imageNamespaces (${world.namespace}), found kube-system`);
        expect(warning.message).toContain('https://ci.example/pipelines/7');
        expect(await post(world.broker, { data })).toBe(202);
        await publishAnother(world, post);
        expect(await world.kube.list(VMDiskImage)).toHaveLength(1);
        expect(await warningsOf(world, 'sync-operator', 'PublishedImageNotMade')).toHaveLength(1);
      },
    },
  });
