import { expect } from 'vitest';
import { qcow2Buffer } from '../../deploy/local/object-store/qcow2.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { untilWarning } from './events.ts';
import { putImage, syncImage } from './images.ts';
import { byName, createImage, type Story, until, untilPhase, type World } from './world.ts';

const retryLimit = 2;
const bytesPerSecond = 8 * 1024 * 1024;

/** What may flow beside an attempt's own download: half a second's worth, for the look at the header and an importer that goes. */
const slackBytes = bytesPerSecond / 2;

/** An image of four megabytes from a store that sends eight a second. */
async function putSlowly(world: World, name: string, options: Parameters<typeof putImage>[2] = {}): Promise<number> {
  world.store.limitTo(bytesPerSecond);
  return putImage(world, name, { dataBytes: 4 * 1024 * 1024, ...options });
}

const reasonOf = (image: Awaited<ReturnType<typeof untilPhase>>) =>
  image.status?.conditions?.find(({ type }) => type === 'Ready')?.reason;

export const stories: readonly Story[] = [
  ...byName<Story>({
    'a download that is cut off twice is tried again and succeeds at its third attempt': {
      quick: true,
      smoke: true,
      run: async (world) => {
        const size = await putSlowly(world, 'flaky');
        world.store.faults.push({ match: 'flaky', mode: 'cutAt', fraction: 0.5, times: 2 });
        // The first GET of each attempt only looks at the header, and counts as one.
        await createImage(world, 'flaky');
        const { status } = await untilPhase(world, 'flaky', 'Succeeded');
        expect(world.store.bytesSent('images/flaky.qcow2')).toBeLessThanOrEqual((retryLimit + 1) * (size + slackBytes));
        expect(status?.attempts).toBeGreaterThan(1);
        expect(world.history.phasesOf('flaky')).toContain('Retrying');
      },
    },
    'an image that is missing fails at once, is not tried again, and says why': {
      provesPermissions: {},
      run: async (world) => {
        await world.store.put('images', 'other', 'x');
        await createImage(world, 'lost');
        const image = await untilPhase(world, 'lost', 'Failed');
        expect(reasonOf(image)).toBe('NotFound');
        expect(image.status).toMatchObject({ attempts: 1 });
        expect(image.status?.message).toContain('NoSuchKey');
        await until(
          world,
          DataVolume,
          { namespace: world.namespace, name: world.history.starts()[0]?.name ?? '' },
          (found) => !found,
        );
        const warning = await untilWarning(world, world.namespace, 'NotFound');
        expect(warning.involvedObject).toMatchObject({ kind: 'VMDiskImage', name: 'lost' });
        const all = { namespace: world.namespace, fieldSelector: 'type=Warning,involvedObject.kind=VMDiskImage' };
        expect(await world.kube.list(Event, all)).toHaveLength(1);
      },
    },
    'a download that always breaks costs retryLimit + 1 attempts and no more': {
      quick: true,
      run: async (world) => {
        const size = await putSlowly(world, 'broken');
        world.store.faults.push({ match: 'broken', mode: 'cutAt', fraction: 0.9 });
        await createImage(world, 'broken');
        const { status } = await untilPhase(world, 'broken', 'Failed');
        expect(status?.attempts).toBe(retryLimit + 1);
        expect(world.history.starts()).toHaveLength(retryLimit + 1);
        expect(world.store.bytesSent('images/broken.qcow2')).toBeLessThanOrEqual(
          (retryLimit + 1) * (size + slackBytes),
        );
      },
    },
    'a disk too small for its image is downloaded once': async (world) => {
      const size = await putSlowly(world, 'large', { virtualBytes: 128 * 1024 * 1024 });
      await createImage(world, 'large', { diskSize: '16Mi' });
      expect(reasonOf(await untilPhase(world, 'large', 'Failed'))).toBe('DiskTooSmall');
      expect(world.store.bytesSent('images/large.qcow2')).toBeLessThanOrEqual(size + slackBytes);
    },
    'keys the store refuses fail the image without a second try': {
      smoke: true,
      run: async (world) => {
        await putImage(world, 'private');
        world.store.faults.push({ match: 'private', mode: 'status', status: 403 });
        await createImage(world, 'private');
        expect(reasonOf(await untilPhase(world, 'private', 'Failed'))).toBe('AccessDenied');
      },
    },
    'an http image whose checksum differs fails permanently': async (world) => {
      const size = await putSlowly(world, 'public', { bucket: 'public', key: 'u.qcow2' });
      const checksum = `sha256:${'0'.repeat(64)}`;
      await createImage(world, 'public', { sourceType: 'http', url: `${world.store.url}/public/u.qcow2`, checksum });
      expect(reasonOf(await untilPhase(world, 'public', 'Failed'))).toBe('ChecksumMismatch');
      expect(world.store.bytesSent('public/u.qcow2')).toBeLessThanOrEqual(size + slackBytes);
    },
    'a DataVolume that a user deletes in mid-download ends its attempt, and the next one succeeds': {
      smoke: true,
      run: async (world) => {
        const size = await putSlowly(world, 'shot');
        // Half a second of download may be over before its image says that it began.
        world.store.faults.push({ match: 'shot', mode: 'stall', fraction: 0.5 });
        await createImage(world, 'shot');
        const ref = { namespace: world.namespace, name: 'shot' };
        const seen = await until(world, VMDiskImage, ref, (image) => image?.status?.importer?.scratch === true);
        world.store.faults.length = 0;
        await world.kube.delete(DataVolume, { namespace: world.namespace, name: seen?.status?.dataVolume ?? '' });
        expect((await untilPhase(world, 'shot', 'Succeeded')).status?.attempts).toBe(2);
        expect(world.history.phasesOf('shot')).toContain('Retrying');
        expect(world.store.bytesSent('images/shot.qcow2')).toBeLessThanOrEqual(2 * (size + slackBytes));
      },
    },
    'an image named lab-404 is nothing special': async (world) => {
      expect((await syncImage(world, 'lab-404')).status?.attempts).toBe(1);
    },
    'a gzipped image is downloaded once and becomes ready': async (world) => {
      const size = await putSlowly(world, 'packed', { gz: true, key: 'packed.img.gz' });
      await createImage(world, 'packed', { url: `${world.store.url}/images/packed.img.gz` });
      await untilPhase(world, 'packed', 'Succeeded');
      expect(world.store.bytesSent('images/packed.img.gz')).toBeLessThanOrEqual(size + slackBytes);
    },
    'a download that stalls is ended after syncTimeout': {
      policy: { syncTimeout: '1s', retryLimit: '0' },
      run: async (world) => {
        const size = await putSlowly(world, 'slow');
        world.store.faults.push({ match: 'slow', mode: 'stall', fraction: 0.6 });
        await createImage(world, 'slow');
        expect(reasonOf(await untilPhase(world, 'slow', 'Failed'))).toBe('SyncTimeout');
        expect(world.store.bytesSent('images/slow.qcow2')).toBeLessThanOrEqual(size + slackBytes);
      },
    },
    'a missing Secret costs no attempt, and the image syncs once it exists': {
      policy: { retryLimit: '0' },
      run: async (world) => {
        await putImage(world, 'early');
        await createImage(world, 'early', { secretRef: 'later' });
        const waiting = await untilPhase(world, 'early', 'Failed');
        expect(reasonOf(waiting)).toBe('SecretMissing');
        expect(waiting.status?.attempts).toBe(0);
        const [secret] = await world.kube.list(Secret, {
          namespace: world.namespace,
          fieldSelector: 'metadata.name=s3-reader',
        });
        await world.kube.create(Secret, { ...secret, metadata: { name: 'later', namespace: world.namespace } });
        expect((await untilPhase(world, 'early', 'Succeeded')).status?.attempts).toBe(1);
      },
    },
  }),
  ...(
    [
      ['an importer that is evicted', 'evicted', 'ImporterEvicted'],
      ['an importer that is drained away', 'drained', 'ImporterReplaced'],
      ['a failure that only restartCount shows', 'missedTerminated', undefined],
    ] as const
  ).map(
    ([what, mode, reason]): Story => ({
      name: `${what} ends its attempt, and the next one succeeds`,
      // From S3 the simulated CDI knows no total, as the real one: the share is of the claim's 64Mi.
      simulators: {
        cdi: { faults: [{ match: 'hit', mode, times: 1, ...(mode === 'missedTerminated' ? {} : { at: 0.02 }) }] },
      },
      run: async (world) => {
        const size = await putSlowly(world, 'hit');
        // The first GET of an attempt only looks at the header, and counts.
        if (mode === 'missedTerminated')
          world.store.faults.push({ match: 'hit', mode: 'cutAt', fraction: 0.5, times: 2 });
        await createImage(world, 'hit');
        const { status } = await untilPhase(world, 'hit', 'Succeeded');
        expect(status?.attempts).toBe(2);
        expect(status?.history?.find(({ fact }) => fact === 'Retrying')).toBeDefined();
        const retrying = world.history.changes().map(({ object }) => object as Awaited<ReturnType<typeof untilPhase>>);
        const found = retrying.find((object) => object.kind === 'VMDiskImage' && object.status?.phase === 'Retrying');
        if (reason && found) expect(reasonOf(found)).toBe(reason);
        expect(world.store.bytesSent('images/hit.qcow2')).toBeLessThanOrEqual(2 * (size + slackBytes));
      },
    }),
  ),
  ...byName<Story>({
    'an importer killed for its memory ends its attempt': {
      localOnly:
        'CDI starts it again within milliseconds, and a state that ends before its event arrives is never seen',
      simulators: { cdi: { faults: [{ match: 'big', mode: 'oom', times: 1, at: 0 }] } },
      run: async (world) => {
        const size = await putSlowly(world, 'big');
        await createImage(world, 'big');
        expect((await untilPhase(world, 'big', 'Succeeded')).status?.attempts).toBe(2);
        expect(world.store.bytesSent('images/big.qcow2')).toBeLessThanOrEqual(2 * (size + slackBytes));
      },
    },
    'the round for scratch space of an old CDI costs no attempt': {
      // CDI deletes the Pod before the kubelet starts its container again.
      simulators: { cdi: { faults: [{ match: 'old', mode: 'oldScratch' }], timings: { containerMs: 800 } } },
      run: async (world) => {
        const { status } = await syncImage(world, 'old');
        expect(status?.attempts).toBe(1);
      },
    },
    'a phase that goes back is no failure': {
      simulators: { cdi: { faults: [{ match: 'flap', mode: 'flap' }] } },
      run: async (world) => {
        expect((await syncImage(world, 'flap')).status?.attempts).toBe(1);
      },
    },
  }),
  ...(['quota', 'provisionError'] as const).map(
    (mode): Story => ({
      name: `an attempt that never starts (${mode}) does not count, and its slot goes to the next`,
      policy: { concurrency: '1', startTimeout: '8s', retryBackoffDuration: '1h', retryLimit: '0' },
      simulators: { cdi: { faults: [{ match: 'stuck', mode }] } },
      run: async (world) => {
        await putImage(world, 'stuck');
        await putImage(world, 'next');
        await createImage(world, 'stuck');
        await createImage(world, 'next');
        await untilPhase(world, 'next', 'Succeeded');
        const { status } = await untilPhase(world, 'stuck', 'Retrying');
        expect(status?.attempts).toBe(0);
      },
    }),
  ),
  ...byName<Story>({
    'an importer no node takes for a while is waited for': {
      simulators: { cdi: { faults: [{ match: 'wait', mode: 'unschedulable', forMs: 500 }] } },
      run: async (world) => {
        expect((await syncImage(world, 'wait')).status?.attempts).toBe(1);
      },
    },
    'a CDI that is down for a while is waited for': {
      simulators: { cdi: { faults: [{ match: 'down', mode: 'controllerDown', forMs: 500 }] } },
      run: async (world) => {
        expect((await syncImage(world, 'down')).status?.attempts).toBe(1);
      },
    },
    'a corrupt image costs retryLimit + 1 downloads': {
      policy: { retryLimit: '1', retryBackoffDuration: '100ms' },
      run: async (world) => {
        const image = qcow2Buffer({ virtualBytes: 32 * 1024 * 1024, dataBytes: 4 * 1024 * 1024, seed: 1 });
        // A table entry points outside the file. CDI does not notice a file that is only truncated.
        image.fill(0xb3, 3 * 65_536 + 4, 3 * 65_536 + 8);
        await world.store.put('images', 'corrupt.qcow2', image);
        await createImage(world, 'corrupt');
        expect(reasonOf(await untilPhase(world, 'corrupt', 'Failed'))).toBe('ImportFailed');
        expect(world.store.bytesSent('images/corrupt.qcow2')).toBeLessThanOrEqual(2 * (image.length + slackBytes));
      },
    },
    'a snapshot that never gets ready fails the image after snapshotTimeout, keeps its volume and repeats no download':
      {
        policy: { snapshotTimeout: '1s' },
        simulators: { snapshotter: { readyMs: 3_600_000 } },
        run: async (world) => {
          const size = await putSlowly(world, 'cut');
          await createImage(world, 'cut');
          expect(reasonOf(await untilPhase(world, 'cut', 'Failed'))).toBe('SnapshotTimeout');
          expect(await world.kube.list(DataVolume, { namespace: world.namespace })).toHaveLength(1);
          expect(world.store.bytesSent('images/cut.qcow2')).toBeLessThanOrEqual(size + slackBytes);
        },
      },
    'a volume that is lost after the download does not become Ready': {
      simulators: { cdi: { faults: [{ match: 'gone', mode: 'claimLost' }] }, snapshotter: { readyMs: 60_000 } },
      run: async (world) => {
        await putImage(world, 'gone');
        await createImage(world, 'gone');
        const { status } = (await until(world, VMDiskImage, { namespace: world.namespace, name: 'gone' }, (image) =>
          ['Failed', 'Retrying'].includes(image?.status?.phase ?? ''),
        )) as VMDiskImage;
        expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False');
      },
    },
  }),
];
