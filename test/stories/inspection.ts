import { expect } from 'vitest';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import { inImagesRole, operatorNamespace } from '../../shared/operator.ts';
import { untilWarning } from './events.ts';
import { putImage, syncImage } from './images.ts';
import {
  type ByName,
  byName,
  createImage,
  refIn,
  type Spec,
  type Story,
  setPolicy,
  until,
  untilPhase,
  type World,
} from './world.ts';

const conditionOf = (image: VMDiskImage | undefined, type: string) =>
  image?.status?.conditions?.find((condition) => condition.type === type);

/** Makes the namespace one of images, and what the installer makes there. */
export async function letInspect({ kube, namespace }: Pick<World, 'kube' | 'namespace'>): Promise<void> {
  await setPolicy({ kube }, { imageNamespaces: `vmdi-farm\n${namespace}` });
  await kube.create(RoleBinding, {
    metadata: { name: 'inspect-source', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: inImagesRole('inspect-source') },
    subjects: [{ kind: 'ServiceAccount', name: 'inspect-source', namespace: operatorNamespace }],
  });
}

const localOnly = 'the store of the stories listens on loopback, which no Pod of a real cluster reaches';

/** Stories in whose namespace sources are inspected. */
export const inspected = (stories: ByName<Story>): readonly Story[] =>
  byName<Story>(stories).map((story) => ({
    localOnly,
    ...story,
    run: async (world) => {
      await letInspect(world);
      await story.run(world);
    },
  }));

/** What an image fails for before it gets a slot: what is at its url, what its spec says, and the words of the message. */
const refused: readonly [
  what: string,
  reason: string,
  said: RegExp,
  put: (world: World) => unknown,
  spec?: Partial<Spec>,
][] = [
  ['is missing', 'SourceMissing', /found none \(404 NoSuchKey\)\. Correct url/, (world) => putImage(world, 'other')],
  [
    'may not be read',
    'SourceForbidden',
    /may not be read \(403.*Secret s3-reader/,
    (world) => world.store.faults.push({ match: 'bad', mode: 'status', status: 403 }),
  ],
  [
    'is an HTML page',
    'NotAnImage',
    /found an HTML page/,
    async (world) => {
      await world.kube.create(ConfigMap, { metadata: { name: 'ca', namespace: world.namespace } });
      await world.store.put('images', 'bad.qcow2', `<!DOCTYPE html><html>${'<p>Not here</p>'.repeat(99)}</html>`);
    },
    { certConfigMap: 'ca' },
  ],
  [
    'is a qcow2 that was cut off',
    'ImageTruncated',
    /is longer than the 512Ki that are there/,
    async (world) => world.store.put('images', 'bad.qcow2', (await qcow2({ dataBytes: 1 << 20 })).subarray(0, 1 << 19)),
  ],
  [
    'is too large for its disk',
    'DiskTooSmall',
    /at most 16Mi \(diskSize\).*found one of 128Mi \(134217728 bytes\)/,
    (world) => putImage(world, 'bad', { virtualBytes: 128 << 20 }),
    { diskSize: '16Mi' },
  ],
  [
    'needs a backing file',
    'BackingFile',
    /needs its backing file "base.qcow2"/,
    async (world) => world.store.put('images', 'bad.qcow2', await qcow2({ backing: 'base.qcow2' })),
  ],
];

async function qcow2({ dataBytes = 0, backing = '' }): Promise<Buffer> {
  const { qcow2Buffer } = await import('../../deploy/local/object-store/qcow2.ts');
  const image = qcow2Buffer({ virtualBytes: 32 << 20, dataBytes, seed: 'bad' });
  if (backing) {
    image.writeBigUInt64BE(512n, 8);
    image.writeUInt32BE(backing.length, 16);
    image.write(backing, 512);
  }
  return image;
}

export const stories: readonly Story[] = [
  ...refused.map(
    ([what, reason, said, put, spec = {}]): Story => ({
      name: `an image whose source ${what} fails without a slot, a volume and an attempt`,
      localOnly,
      ...(reason === 'SourceMissing' ? { quick: true } : {}),
      ...(reason === 'NotAnImage' ? { provesPermissions: {} } : {}),
      run: async (world) => {
        await letInspect(world);
        await put(world);
        await createImage(world, 'bad', spec);
        const image = await untilPhase(world, 'bad', 'Failed');
        expect(conditionOf(image, 'Ready')).toMatchObject({ status: 'False', reason });
        expect(image.status?.message).toMatch(said);
        expect(image.status).toMatchObject({ attempt: 0, attempts: 0 });
        expect(world.history.phasesOf('bad')).toEqual(['Queued', 'Failed']);
        expect(await world.kube.list(DataVolume, { namespace: world.namespace })).toEqual([]);
        // It is looked at again if another function wrote to the image meanwhile.
        expect(world.store.bytesSent('images/bad.qcow2')).toBeLessThanOrEqual(2 * (64 + 2) * 1024);
      },
    }),
  ),
  ...inspected({
    async 'a Secret with a line break at its end is named before a download, and the image syncs once it is corrected'(
      world,
    ) {
      await putImage(world, 'pasted');
      const Secret = (await import('../../shared/kinds/core/secret.ts')).Secret;
      const good = await world.kube.get(Secret, { namespace: world.namespace, name: 's3-reader' });
      const { accessKeyId = '', secretKey = '' } = good?.data ?? {};
      const broken = Buffer.from(`${Buffer.from(secretKey, 'base64')}\n`).toString('base64');
      const metadata = { name: 'pasted', namespace: world.namespace };
      await world.kube.create(Secret, { metadata, data: { accessKeyId, secretKey: broken } });
      await createImage(world, 'pasted', { secretRef: 'pasted' });
      const failed = await untilPhase(world, 'pasted', 'Failed');
      expect(conditionOf(failed, 'Ready')?.reason).toBe('SecretInvalid');
      expect(failed.status?.message).toContain('line break at the end of secretKey in Secret lab/pasted');
      await world.kube.patch(Secret, metadata, { data: { secretKey } });
      const image = await untilPhase(world, 'pasted', 'Succeeded');
      expect(image.status?.attempts).toBe(1);
      expect(conditionOf(image, 'SourceInspected')).toMatchObject({ status: 'True', reason: 'Inspected' });
    },
    'a golden image to which an HTML page is published keeps its good revision': {
      quick: true,
      run: async (world) => {
        const ref = refIn(world, 'golden');
        const publish = async (content: string) =>
          world.kube.patch(VMDiskImage, ref, {
            metadata: { annotations: { 'pelotech.ot/published-content': content } },
          });
        await syncImage(world, 'golden');
        await publish('second');
        const isSecond = (image: VMDiskImage | undefined) =>
          image?.status?.phase === 'Succeeded' && image.status.snapshot?.revision === 2;
        const good = await until(world, VMDiskImage, ref, isSecond);
        await world.store.put('images', 'golden.qcow2', `<html>${'<p>maintenance</p>'.repeat(99)}</html>`);
        await publish('third');
        const failed = await until(world, VMDiskImage, ref, (image) => image?.status?.phase === 'Failed');
        expect(failed?.status).toMatchObject({ revision: 3, snapshot: good?.status?.snapshot });
        expect(conditionOf(failed, 'Ready')).toMatchObject({ status: 'True', reason: 'NotAnImage' });
        expect(conditionOf(failed, 'Ready')?.message).toContain('The snapshot of revision 2 is usable.');
      },
    },
    'an object that is replaced behind its url is the next revision, once, and the one before serves meanwhile': {
      quick: true,
      run: async (world) => {
        const ref = refIn(world, 'fresh');
        const first = await syncImage(world, 'fresh', { refresh: 'OnChange' });
        await putImage(world, 'another', { key: 'fresh.qcow2' });
        const stale = await until(world, VMDiskImage, ref, (image) => conditionOf(image, 'Stale')?.status === 'True');
        expect(conditionOf(stale, 'Stale')?.message).toMatch(
          /has changed since revision 1 .*; the next revision is downloaded/,
        );
        expect(conditionOf(stale, 'Ready')?.status).toBe('True');
        expect(stale?.status?.snapshot).toEqual(first.status?.snapshot);
        const isFresh = (image: VMDiskImage | undefined) =>
          image?.status?.snapshot?.revision === 2 && conditionOf(image, 'Stale')?.reason === 'UpToDate';
        const fresh = await until(world, VMDiskImage, ref, isFresh);
        expect(fresh?.status).toMatchObject({ phase: 'Succeeded', revision: 2 });
        expect(world.history.starts()).toHaveLength(2);
      },
    },
    async 'a source that cannot be reached keeps no other image waiting, and its image syncs once it can'(world) {
      await putImage(world, 'away');
      await putImage(world, 'other');
      world.store.faults.push({ match: 'away', mode: 'status', status: 503, times: 1 });
      await createImage(world, 'away');
      await until(
        world,
        VMDiskImage,
        refIn(world, 'away'),
        (image) => conditionOf(image, 'Ready')?.reason === 'SourceUnreachable',
      );
      await createImage(world, 'other');
      await untilPhase(world, 'other', 'Syncing');
      const image = await untilPhase(world, 'away', 'Succeeded');
      expect(image.status?.attempts).toBe(1);
      expect(conditionOf(image, 'SourceInspected')?.reason).toBe('Inspected');
    },
    'with every fact lost the sweep alone inspects a source': {
      provesPermissions: { byTimers: true },
      localOnly: 'a real Broker drops nothing on demand',
      local: { faults: { drop: ({ event }) => String(event.attributes.type).startsWith('ot.pelotech.') } },
      run: async (world) => {
        await createImage(world, 'lost');
        expect(conditionOf(await untilPhase(world, 'lost', 'Failed'), 'Ready')?.reason).toBe('SourceMissing');
      },
    },
    'a raw disk of no known format is downloaded, with a Warning': {
      provesPermissions: {},
      run: async (world) => {
        await world.store.put('images', 'raw.qcow2', Buffer.alloc(1 << 20));
        await createImage(world, 'raw');
        const image = await untilPhase(world, 'raw', 'Succeeded');
        expect(conditionOf(image, 'SourceInspected')).toMatchObject({ status: 'True', reason: 'UnknownFormat' });
        expect(await untilWarning(world, world.namespace, 'UnknownFormat')).toMatchObject({
          involvedObject: { name: 'raw' },
          source: { component: 'inspect-source' },
        });
      },
    },
  }),
  ...byName<Story>({
    'what no function may look at is downloaded uninspected, and its image reports it': {
      localOnly,
      run: async (world) => {
        const image = await syncImage(world, 'private');
        expect(conditionOf(image, 'SourceInspected')).toMatchObject({ status: 'Unknown', reason: 'NotInspected' });
        expect(conditionOf(image, 'SourceInspected')?.message).toContain('lab is not one of them');
      },
    },
  }),
];
