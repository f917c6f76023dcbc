import { expect } from 'vitest';
import { holdersOf, leaseName, slotsAnnotation } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshotClass } from '../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../shared/kinds/storage/storage-class.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import { untilWarning, warningsOf } from './events.ts';
import { putImage } from './images.ts';
import { uninspected } from './queue.ts';
import { apply } from './run-kubectl.ts';
import { createImage, type Story, setPolicy, until, untilPhase, type World, withKubectl } from './world.ts';

const operator = 'sync-operator';

/** A spec that is good for any cluster's schema; undefined leaves a field out. */
const specWith = (changes: Readonly<Record<string, unknown>>) => ({
  storageClass: 'gp3',
  snapshotClass: 'ebs-snapshot',
  secretRef: 's3-reader',
  url: 'https://s3.us-gov-west-1.amazonaws.com/images/lab/vm.qcow2',
  diskSize: '24Gi',
  ...changes,
});

const manifest = (world: World, spec: unknown, name = 'bad') => ({
  apiVersion: VMDiskImage.apiVersion,
  kind: VMDiskImage.kind,
  metadata: { name, namespace: world.namespace },
  ...(spec === undefined ? {} : { spec }),
});

const http = { sourceType: 'http', secretRef: undefined };

/** What the schema refuses: what is changed in a good spec, and what the answer says. */
const refused: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
  [
    'an s3:// url',
    { url: 's3://images/lab/vm.qcow2' },
    'expected a path-style https URL, found s3://; write https://s3.',
  ],
  [
    'a virtual-hosted S3 url',
    { url: 'https://images.s3.us-gov-west-1.amazonaws.com/lab/vm.qcow2' },
    'expected path style, found a virtual-hosted S3 URL; write https://s3.',
  ],
  ['an S3 url without a key', { url: 'https://s3.example/images' }, 'expected https://<host>/<bucket>/<key>'],
  ['no secretRef for S3', { secretRef: undefined }, 'secretRef: expected for sourceType s3'],
  [
    'a password in the url',
    { ...http, url: 'https://me:secret@mirror.example/vm.qcow2' },
    'expected no user or password in it; put them into a Secret',
  ],
  ['another scheme for http', { ...http, url: 'ftp://mirror.example/vm' }, 'expected http:// or https:// for'],
  [
    'another scheme for registry',
    { sourceType: 'registry', url: 'https://r.example/vm' },
    'expected docker:// or oci-',
  ],
  ['a checksum for S3', { checksum: `md5:${'0'.repeat(32)}` }, 'checksum: expected only with sourceType http'],
  ['an invalid checksum', { ...http, checksum: 'sha256:abc' }, 'spec.checksum'],
  ['an unknown sourceType', { sourceType: 'ftp' }, 'supported values: "s3", "http", "registry"'],
  ['an invalid diskSize', { diskSize: 'large' }, 'diskSize: expected at least 1Mi, with its unit, such as 24Gi'],
  ['a diskSize in GB', { diskSize: '24GB' }, 'diskSize: expected at least 1Mi, with its unit, such as 24Gi'],
  ['a diskSize of nothing', { diskSize: '0Gi' }, 'spec.diskSize'],
  ['a diskSize too small for any disk', { diskSize: '4Ki' }, 'diskSize: expected at least 1Mi'],
  ['a number for diskSize', { diskSize: 24 }, 'spec.diskSize'],
  ['no diskSize', { diskSize: undefined }, 'spec.diskSize: Required value'],
  ['no url', { url: undefined }, 'spec.url: Required value'],
  ['no storageClass', { storageClass: undefined }, 'spec.storageClass: Required value'],
  ['no snapshotClass', { snapshotClass: undefined }, 'spec.snapshotClass: Required value'],
  ['an empty storageClass', { storageClass: '' }, 'spec.storageClass'],
];

const refusalOf = (write: Promise<unknown>) =>
  write.then(
    () => ({ status: 201, message: '' }),
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.status, message: error.message };
    },
  );

const reasonOf = (image: VMDiskImage) => conditionOf(image.status?.conditions, 'Ready')?.reason;

/** An image that fails for a reason which goes away: it says why, and it syncs once `mend` is done. */
const heals = (
  name: string,
  reason: string,
  {
    spec = {},
    says,
    mend,
    ...more
  }: Partial<Story> & { spec?: object; says: string; mend(world: World): Promise<unknown> },
): Story => ({
  name: `${name} fails the image with ${reason} and a Warning Event; it heals when the cause goes`,
  ...more,
  run: async (world) => {
    await putImage(world, 'lab');
    await createImage(world, 'lab', spec);
    const failed = await untilPhase(world, 'lab', 'Failed');
    expect(reasonOf(failed)).toBe(reason);
    expect(failed.status?.message).toContain(says);
    const warning = await untilWarning(world, world.namespace, reason);
    expect(warning).toMatchObject({ involvedObject: { kind: 'VMDiskImage', name: 'lab' } });
    expect(warning.message).toBe(failed.status?.message);
    expect(world.history.starts()).toEqual([]);
    await mend(world);
    expect((await untilPhase(world, 'lab', 'Succeeded')).status?.attempts).toBe(1);
    expect(await warningsOf(world, world.namespace, reason)).toHaveLength(1);
  },
});

export const stories: readonly Story[] = [
  {
    name: 'what the schema can refuse is answered 422 with what was expected, and is not there afterwards',
    smoke: true,
    run: async (world) => {
      for (const [what, changes, words] of refused) {
        const { status, message } = await refusalOf(world.kube.create(VMDiskImage, manifest(world, specWith(changes))));
        expect({ what, status, message }).toEqual({ what, status: 422, message: expect.stringContaining(words) });
        // A rule that cannot be evaluated answers in words of CEL before its own.
        expect(message).not.toContain('evaluating rule');
      }
      const bare = await refusalOf(world.kube.create(VMDiskImage, manifest(world, undefined)));
      expect(bare).toMatchObject({ status: 422, message: expect.stringContaining('spec: Required value') });
      const long = await refusalOf(world.kube.create(VMDiskImage, manifest(world, specWith({}), 'x'.repeat(201))));
      expect(long).toMatchObject({ status: 422, message: expect.stringContaining('expected at most 200 characters') });
      expect(await world.kube.list(VMDiskImage, { namespace: world.namespace })).toEqual([]);
      await world.kube.create(VMDiskImage, manifest(world, specWith({}), 'good'));
    },
  },
  {
    name: 'an existing image keeps its spec when an edit is refused',
    policy: { concurrency: '0' },
    run: async (world) => {
      await createImage(world, 'lab');
      const ref = { namespace: world.namespace, name: 'lab' };
      const edit = world.kube.patch(VMDiskImage, ref, { spec: { url: 's3://images/lab.qcow2' } });
      expect(await refusalOf(edit)).toMatchObject({ status: 422, message: expect.stringContaining('found s3://') });
      expect((await world.kube.get(VMDiskImage, ref))?.spec.url).toBe(`${world.store.url}/images/lab.qcow2`);
    },
  },
  heals('a source the policy does not allow', 'SourceNotAllowed', {
    quick: true,
    smoke: true,
    provesPermissions: {},
    policy: { allowedSources: 'https://images.example/**' },
    says: 'expected a line for',
    mend: (world) => setPolicy(world, { allowedSources: `https://images.example/**\n${world.store.url}/images/*` }),
  }),
  heals('an address that is not public, in an image namespace', 'SourceNotAllowed', {
    policy: { imageNamespaces: 'lab', allowedSources: 'https://images.example/**' },
    says: 'because its address is not a public one',
    mend: (world) => setPolicy(world, { allowedSources: `${world.store.url}/images/*` }),
  }),
  heals('a StorageClass that is missing', 'StorageClassMissing', {
    spec: { storageClass: 'gp4' },
    says: 'Expected a StorageClass gp4, found only gp3',
    mend: async ({ kube }) => {
      const gp3 = await kube.get(StorageClass, { name: 'gp3' });
      await kube.create(StorageClass, { ...gp3, metadata: { name: 'gp4' } });
    },
  }),
  heals('a VolumeSnapshotClass that is missing', 'SnapshotClassMissing', {
    spec: { snapshotClass: 'ebs-later' },
    says: 'Expected a VolumeSnapshotClass ebs-later, found only ebs-snapshot',
    mend: async ({ kube }) => {
      const found = await kube.get(VolumeSnapshotClass, { name: 'ebs-snapshot' });
      await kube.create(VolumeSnapshotClass, { ...found, metadata: { name: 'ebs-later' } });
    },
  }),
  {
    name: 'a policy key that does not parse starts nothing, ends nothing, is reported once, and heals',
    policy: { concurrency: '1' },
    run: async (world) => {
      for (const name of ['running', 'waiting']) await putImage(world, name);
      world.store.limitTo(0);
      await createImage(world, 'running');
      await untilPhase(world, 'running', 'Syncing');
      await setPolicy(world, { concurrency: 'many' });
      await createImage(world, 'waiting');
      await untilPhase(world, 'waiting', 'Queued');
      const warning = await untilWarning(world, operator, 'InvalidPolicy');
      expect(warning).toMatchObject({
        message: expect.stringContaining('concurrency: expected a whole number from 0 to 1000, found "many"'),
        involvedObject: { kind: 'ConfigMap', name: 'sync-operator-policy' },
        source: { component: 'start-sync' },
      });
      world.store.limitTo(undefined);
      await untilPhase(world, 'running', 'Succeeded');
      const lease = { namespace: operator, name: leaseName };
      await until(world, Lease, lease, (found) => holdersOf(found)?.length === 0);
      expect(world.history.starts().map(({ image }) => image)).toEqual(['running']);
      await setPolicy(world, { concurrency: '1' });
      await untilPhase(world, 'waiting', 'Succeeded');
      expect(await warningsOf(world, operator, 'InvalidPolicy')).toHaveLength(1);
    },
  },
  {
    name: 'a garbled slot Lease is rebuilt, and a Warning Event reports it',
    policy: uninspected,
    run: async (world) => {
      for (const name of ['a', 'b', 'c']) await putImage(world, name);
      world.store.limitTo(0);
      for (const name of ['a', 'b', 'c']) await createImage(world, name);
      await untilPhase(world, 'b', 'Syncing');
      const lease = { namespace: operator, name: leaseName };
      await world.kube.patch(Lease, lease, { metadata: { annotations: { [slotsAnnotation]: 'garbage' } } });
      expect((await untilWarning(world, operator, 'SlotsRebuilt')).message).toContain('2 slots held');
      await until(world, Lease, lease, (found) => holdersOf(found)?.length === 2);
      world.store.limitTo(undefined);
      for (const name of ['a', 'b', 'c']) await untilPhase(world, name, 'Succeeded');
      expect(world.history.mostAtOnce()).toBe(2);
    },
  },
  {
    name: 'a garbage status is refused by the schema; a wiped one is rebuilt, and its attempts count',
    smoke: true,
    run: async (world) => {
      await putImage(world, 'lab');
      world.store.limitTo(0);
      await createImage(world, 'lab');
      await untilPhase(world, 'lab', 'Syncing');
      const ref = { namespace: world.namespace, name: 'lab' };
      const patchStatus = (status: unknown) =>
        world.kube.patch(VMDiskImage, ref, { status }, { subresource: 'status' });
      for (const garbage of [
        { phase: 'Dancing' },
        { attempts: 'three' },
        { conditions: [{ type: 'Ready' }] },
        'none',
      ]) {
        expect(await refusalOf(patchStatus(garbage))).toMatchObject({ status: 422 });
      }
      await patchStatus(null);
      world.store.limitTo(undefined);
      const { status } = await untilPhase(world, 'lab', 'Succeeded');
      expect(status).toMatchObject({ revision: 1, attempts: world.history.starts().length });
    },
  },
  ...withKubectl({
    'kubectl apply shows what was expected of each thing the schema refuses': {
      smoke: true,
      run: async (world) => {
        for (const [what, changes, words] of refused) {
          const { code, err } = await apply(world.kubectl, manifest(world, specWith(changes)));
          expect({ what, code, err }).toEqual({ what, code: 1, err: expect.stringContaining(words) });
        }
        const strict = await apply(world.kubectl, manifest(world, specWith({ colour: 'blue' })));
        expect(strict).toMatchObject({ code: 1, err: expect.stringContaining('unknown field "spec.colour"') });
        const unknown = 'kind: VMDiskImage\napiVersion: pelotech.ot/v9\nmetadata: {name: x}\n';
        expect(await apply(world.kubectl, unknown)).toMatchObject({
          code: 1,
          err: expect.stringContaining('no matches for kind "VMDiskImage" in version "pelotech.ot/v9"'),
        });
        expect((await world.kubectl('get', 'vmdi', '-A', '-o', 'name')).out).toBe('');
      },
    },
  }),
];
