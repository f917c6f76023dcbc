import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { aHolder, aLease, aVMDiskImage } from '../../test/builders.ts';
import { ConfigMap } from '../resources/core/config-map.ts';
import type { Phase, VMDiskImage } from '../resources/pelotech/vm-disk-image.ts';
import { observeDownloads, observeState } from './gauges.ts';
import type { Kube } from './kube.ts';
import { type RunningTelemetry, startTelemetry } from './telemetry-sdk.ts';

let telemetry: RunningTelemetry;
beforeEach(async () => {
  telemetry = await startTelemetry({ serviceName: 'test' });
});
afterEach(() => telemetry.shutdown());

interface World {
  data?: Record<string, string>;
  lease?: ReturnType<typeof aLease> | undefined;
  images?: readonly VMDiskImage[];
  /** What the API server does instead of answering for a kind. */
  instead?: Partial<Record<'ConfigMap' | 'Lease' | 'VMDiskImage', () => Promise<never>>>;
}

const inPhase = (phase: Phase | undefined, name: string) =>
  aVMDiskImage({ name, ...(phase ? { status: { phase } } : {}) });
const ubuntu = inPhase('Syncing', 'ubuntu');

/** The API as `world` says at the moment of each read. */
function reader(world: World): Pick<Kube, 'get' | 'pages'> {
  const answer = (kind: string) =>
    kind === 'Lease' ? world.lease : world.data && ConfigMap.parse({ metadata: { name: 'p' }, data: world.data });
  const instead = (kind: string) => world.instead?.[kind as 'Lease']?.();
  return {
    get: async ({ kind }: { kind: string }) => (await instead(kind)) ?? answer(kind),
    async *pages({ kind }: { kind: string }, options: { fieldSelector: string }) {
      await instead(kind);
      expect(options).toEqual({ fieldSelector: 'status.phase!=Succeeded' });
      const images = world.images ?? [];
      yield { items: images.slice(0, 2), resourceVersion: '1' };
      yield { items: images.slice(2), resourceVersion: '1' };
    },
  } as unknown as Pick<Kube, 'get' | 'pages'>;
}

/** The samples of the state gauges in what Prometheus reads. */
const samples = async () => (await telemetry.metrics()).split('\n').filter((line) => line.startsWith('ot_'));

function quietly() {
  const spy = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  return () => {
    const said = spy.mock.calls.map(([line]) => String(line));
    spy.mockRestore();
    return said;
  };
}

describe('a scrape', () => {
  test('tells the queue, the phases, the slots and the policy as they are at that moment', async () => {
    const world: World = {
      data: { concurrency: '3' },
      lease: aLease([aHolder(ubuntu)]),
      images: [ubuntu, inPhase('Queued', 'a'), inPhase('Queued', 'b'), inPhase(undefined, 'c'), inPhase('Failed', 'd')],
    };
    const end = observeState(reader(world));
    expect(await samples()).toEqual([
      'ot_image_queue_length 2',
      'ot_images{phase="Unseen"} 1',
      'ot_images{phase="Queued"} 2',
      'ot_images{phase="Syncing"} 1',
      'ot_images{phase="Snapshotting"} 0',
      'ot_images{phase="Retrying"} 0',
      'ot_images{phase="Failed"} 1',
      'ot_slots_held 1',
      'ot_slots_free 2',
      'ot_policy_valid 1',
    ]);
    Object.assign(world, { images: [], lease: aLease([]) });
    expect(await samples()).toEqual(expect.arrayContaining(['ot_image_queue_length 0', 'ot_slots_free 3']));
    end();
  });
  test.each([
    ['without a policy uses its default', undefined, 4, 1],
    ['under a lowered limit is free of negative slots', { concurrency: '0' }, 0, 1],
    ['under a limit that does not parse has no free slot', { concurrency: 'many' }, 0, 0],
    ['under another key that does not parse keeps its slots', { concurrency: '4', prune: 'Maybe' }, 4, 0],
  ])('%s', async (_, data, free, valid) => {
    observeState(reader({ ...(data ? { data } : {}), lease: aLease([]) }));
    expect(await samples()).toEqual(expect.arrayContaining([`ot_slots_free ${free}`, `ot_policy_valid ${valid}`]));
  });
  test.each([
    ['missing', undefined],
    ['garbled', aLease('{')],
  ])('with the Lease %s does not guess about slots', async (_, lease) => {
    observeState(reader({ lease }));
    expect((await samples()).filter((line) => line.includes('slots'))).toEqual([]);
  });
});

describe('a read that fails', () => {
  test('is absent from that scrape alone, harms no other metric, and is logged', async () => {
    const world: World = { data: {}, lease: aLease([]), images: [ubuntu] };
    observeState(reader(world));
    expect(await samples()).toHaveLength(10);
    const said = quietly();
    world.instead = { VMDiskImage: () => Promise.reject(new Error('etcd is away')) };
    expect(await samples()).toEqual(['ot_slots_held 0', 'ot_slots_free 4', 'ot_policy_valid 1']);
    world.instead = { ConfigMap: () => Promise.reject(new Error('forbidden')) };
    expect((await samples()).map((line) => line.split(/[ {]/)[0])).not.toContain('ot_policy_valid');
    expect(said().join('\n')).toMatch(/metrics without images: etcd is away.*\n.*metrics without policy: forbidden/);
    world.instead = {};
    expect(await samples()).toHaveLength(10);
  });
  test('of the store costs its own metric only', async () => {
    observeState(reader({ lease: aLease([]) }));
    observeDownloads(() => {
      throw new Error('the store is closed');
    });
    const said = quietly();
    expect(await samples()).toHaveLength(10);
    expect(said().join()).toContain('a metric could not be read: Error: the store is closed');
  });
  test('of an API server that never answers ends in time', async () => {
    const never = () => new Promise<never>(() => undefined);
    observeState(reader({ instead: { ConfigMap: never, Lease: never, VMDiskImage: never } }), { timeoutMs: 10 });
    const said = quietly();
    expect(await samples()).toEqual([]);
    expect(said()).toHaveLength(3);
  });
});

test('the bytes of a store are what it has counted by the time of the scrape, until somebody ends that', async () => {
  let bytes = 0;
  const end = observeDownloads(() => bytes);
  bytes = 4096;
  expect(await samples()).toEqual(['ot_image_download_io_bytes_total 4096']);
  bytes = 5000;
  expect(await samples()).toEqual(['ot_image_download_io_bytes_total 5000']);
  end();
  bytes = 6000;
  expect(await samples()).not.toContain('ot_image_download_io_bytes_total 6000');
});
