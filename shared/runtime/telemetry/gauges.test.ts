import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { aHolder, aLease, at, aVMDiskImage, type ImageOptions, start } from '../../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../../test/support/builders/machines.ts';
import { aWorkspace } from '../../../test/support/builders/workspaces.ts';
import { ConfigMap } from '../../kinds/core/config-map.ts';
import type { VirtualMachine } from '../../kinds/pelotech/virtual-machine.ts';
import type { Phase, VMDiskImage } from '../../kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../kinds/pelotech/workspace.ts';
import type { KubernetesObject } from '../../kinds/resource.ts';
import type { Kube } from '../kube.ts';
import { observeDownloads, observeState } from './gauges.ts';
import { type RunningTelemetry, startTelemetry } from './sdk.ts';

let telemetry: RunningTelemetry;
beforeEach(async () => {
  telemetry = await startTelemetry({ serviceName: 'test' });
});
afterEach(() => telemetry.shutdown());

interface World {
  data?: Record<string, string>;
  lease?: ReturnType<typeof aLease> | undefined;
  images?: readonly VMDiskImage[];
  unused?: readonly VMDiskImage[];
  machines?: readonly VirtualMachine[];
  workspaces?: readonly Workspace[];
  /** What the API server does instead of answering for a kind. */
  instead?: Partial<
    Record<'ConfigMap' | 'Lease' | 'VMDiskImage' | 'VirtualMachine' | 'Workspace', () => Promise<never>>
  >;
}

const inPhase = (phase: Phase | undefined, name: string) =>
  aVMDiskImage({ name, ...(phase ? { status: { phase } } : {}) });
const ubuntu = inPhase('Syncing', 'ubuntu');
const anImporterSeen = { uid: 'pod-1', scratch: false };

/** The API as `world` says at the moment of each read. */
function reader(world: World): Pick<Kube, 'get' | 'pages'> {
  const answer = (kind: string) =>
    kind === 'Lease' ? world.lease : world.data && ConfigMap.parse({ metadata: { name: 'p' }, data: world.data });
  const instead = (kind: string) => world.instead?.[kind as 'Lease']?.();
  return {
    get: async ({ kind }: { kind: string }) => (await instead(kind)) ?? answer(kind),
    async *pages({ kind }: { kind: string }, options?: { fieldSelector: string }) {
      await instead(kind);
      const listed = new Map<string | undefined, readonly KubernetesObject[] | undefined>([
        ['status.phase!=Succeeded', world.images],
        ['status.references.count=0', world.unused],
        [undefined, kind === 'Workspace' ? world.workspaces : world.machines],
      ]);
      expect([...listed.keys()]).toContain(options?.fieldSelector);
      const found = listed.get(options?.fieldSelector) ?? [];
      for (const page of [found.slice(0, 2), found.slice(2)]) {
        // Nobody reads an object of a page after the next was asked for: a scrape keeps none of thousands.
        const lent = page.map((object) => Proxy.revocable(object, {}));
        yield { items: lent.map(({ proxy }) => proxy), resourceVersion: '1' };
        for (const { revoke } of lent) revoke();
      }
    },
  } as unknown as Pick<Kube, 'get' | 'pages'>;
}

/** The samples of the state gauges in what Prometheus reads. */
const allSamples = async () => (await telemetry.metrics()).split('\n').filter((line) => line.startsWith('ot_'));

const isOfUse = (line: string) => /^ot_(machines|image_(references|unreferenced|prunable))/.test(line);
const isOfWorkspaces = (line: string) => /^ot_workspace/.test(line);
const isOfWaits = (line: string) => /^ot_(image_(wait|failed)|slots_idle)/.test(line);
/** Those of syncs. */
const samples = async () =>
  (await allSamples()).filter((line) => !isOfUse(line) && !isOfWorkspaces(line) && !isOfWaits(line));
/** Those of what images wait for and why they failed, as far as they are not zero. */
const waitSamples = async () => (await allSamples()).filter((line) => isOfWaits(line) && !line.endsWith(' 0'));
/** Those of machines, and of who uses what. */
const useSamples = async () => (await allSamples()).filter(isOfUse);
const workspaceSamples = async () => (await allSamples()).filter(isOfWorkspaces);

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
      'ot_egress_spent_bytes 0',
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

describe('of images on their way, a scrape', () => {
  const now = () => start + 600_000;
  const failed = (name: string, reason: string) =>
    aVMDiskImage({
      name,
      status: {
        phase: 'Failed',
        conditions: [{ type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: at(0) }],
      },
    });
  const queued = (name: string, seconds: number) =>
    aVMDiskImage({ name, status: { phase: 'Queued', queuedAt: at(seconds) } });
  test('tells what they wait for, for how long the first of them does, and why others failed', async () => {
    observeState(
      reader({
        data: { concurrency: '1' },
        lease: aLease([{ ...aHolder(ubuntu), since: at(0) }]),
        images: [
          aVMDiskImage({
            name: 'ubuntu',
            status: {
              phase: 'Syncing',
              startedAt: at(0),
              progress: '5%',
              progressAt: at(420),
              importer: anImporterSeen,
            },
          }),
          queued('a', 60),
          queued('b', 30),
          failed('c', 'NotFound'),
          failed('d', 'NotFound'),
          failed('e', 'Whatever'),
        ],
      }),
      { now },
    );
    expect(await waitSamples()).toEqual([
      'ot_image_waits{reason="SlotsTaken"} 2',
      'ot_image_waits{reason="Download"} 1',
      'ot_image_wait_duration_seconds{reason="SlotsTaken"} 570',
      'ot_image_wait_duration_seconds{reason="Download"} 600',
      'ot_image_failed{reason="NotFound"} 2',
      'ot_image_failed{reason="Other"} 1',
      'ot_slots_idle_duration_seconds{progress="reported"} 180',
    ]);
  });
  test('counts a slot for idle whose image is gone, or is not even begun', async () => {
    const holders = [
      { ...aHolder(queued('new', 0)), since: at(500) },
      { ...aHolder(queued('gone', 0)), since: at(100) },
    ];
    observeState(reader({ data: {}, lease: aLease(holders), images: [queued('new', 0)] }), { now });
    expect(await waitSamples()).toContain('ot_slots_idle_duration_seconds{progress="reported"} 500');
  });
  test('does not guess what they wait for without the policy, nor what a Lease says that cannot be read', async () => {
    const said = quietly();
    const world: World = { images: [queued('a', 0), failed('b', 'NotFound')], lease: aLease('{') };
    world.instead = { ConfigMap: () => Promise.reject(new Error('forbidden')) };
    observeState(reader(world), { now });
    expect(await waitSamples()).toEqual(['ot_image_failed{reason="NotFound"} 1']);
    world.instead = {};
    expect(await waitSamples()).toContain('ot_image_waits{reason="SlotsUnknown"} 1');
    expect(said().join()).toContain('metrics without policy');
  });
  test('takes a time that cannot be read for none', async () => {
    const images = [aVMDiskImage({ status: { phase: 'Queued', queuedAt: 'yesterday' } })];
    observeState(reader({ data: {}, lease: aLease([]), images }), { now });
    expect(await waitSamples()).toEqual(['ot_image_waits{reason="SlotFree"} 1']);
  });
});

describe('of machines and images, a scrape', () => {
  const nowMs = start + 7_200_000;
  const now = () => nowMs;
  const unusedSince = (seconds: number, more: ImageOptions = {}) =>
    aVMDiskImage({ name: `unused-${seconds}`, status: { unreferencedSince: at(seconds) }, ...more });
  const machinesOn = (image: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      aVirtualMachine({
        name: `${image}-${index}`,
        spec: { vmDiskImageRef: { name: image, namespace: 'vmdi-farm' } },
        status: { phase: 'Ready' },
      }),
    );
  test('tells how many use an image, who waits for what, and what is due', async () => {
    observeState(
      reader({
        data: { pruneAfter: '1h', imageNamespaces: 'vmdi-farm' },
        unused: [
          unusedSince(0),
          unusedSince(1, { annotations: { 'pelotech.ot/keep': 'yes' } }),
          unusedSince(3600),
          unusedSince(3601),
        ],
        machines: [
          ...['one', 'two', 'ten', 'many', 'most'].flatMap((image, index) =>
            machinesOn(image, [1, 2, 10, 11, 101][index] ?? 0),
          ),
          aVirtualMachine({ name: 'new', spec: { vmDiskImageRef: { name: 'one', namespace: 'secret' } } }),
          aVirtualMachine({ name: 'going', deleted: true, status: { phase: 'Failed' } }),
        ],
      }),
      { now },
    );
    expect(await useSamples()).toEqual([
      'ot_image_references{machines="0"} 4',
      'ot_image_references{machines="1"} 1',
      'ot_image_references{machines="2-10"} 2',
      'ot_image_references{machines="11-100"} 1',
      'ot_image_references{machines="101+"} 1',
      'ot_image_unreferenced_duration_seconds 7200',
      'ot_image_prunable 2',
      'ot_machines{phase="Unseen"} 1',
      'ot_machines{phase="Provisioning"} 0',
      'ot_machines{phase="Failed"} 1',
      'ot_machines{phase="Ready"} 125',
    ]);
  });
  test('of an empty cluster is all zero', async () => {
    observeState(reader({}), { now });
    expect((await useSamples()).map((line) => line.split(' ')[1])).toEqual(Array(11).fill('0'));
  });
  test('does not guess what is due while pruneAfter does not parse', async () => {
    observeState(reader({ data: { pruneAfter: 'soon' }, unused: [unusedSince(0)] }), { now });
    const said = await useSamples();
    expect(said).toContain('ot_image_unreferenced_duration_seconds 7200');
    expect(said.join()).not.toContain('prunable');
  });
  test('says as much as can be read', async () => {
    const said = quietly();
    const refused = () => Promise.reject(new Error('forbidden'));
    const world: World = { machines: machinesOn('one', 1), instead: { ConfigMap: refused } };
    observeState(reader(world), { now });
    const names = async () => [...new Set((await useSamples()).map((line) => line.split(/[ {]/)[0]))];
    expect(await names()).toEqual(['ot_image_references', 'ot_image_unreferenced_duration_seconds', 'ot_machines']);
    expect((await useSamples()).filter((line) => line.includes('references'))).toEqual([
      'ot_image_references{machines="0"} 0',
    ]);
    world.instead = { VirtualMachine: refused };
    expect(await names()).not.toContain('ot_machines');
    world.instead = { VMDiskImage: refused };
    expect(await names()).toEqual(['ot_image_references', 'ot_machines']);
    expect(said().join()).toContain('metrics without machines: forbidden');
  });
});

describe('of workspaces, a scrape', () => {
  const component = (phase: 'Ready' | 'Failed') =>
    ({ kind: 'Volume', name: 'data', phase, reason: '', message: '' }) as const;
  const willBeLate = {
    type: 'WillBeLate',
    status: 'True',
    reason: 'Late',
    message: '',
    lastTransitionTime: '',
  } as const;
  test('reports their states and those of all their components', async () => {
    observeState(
      reader({
        workspaces: [
          aWorkspace({}),
          aWorkspace({ status: { phase: 'Scheduled', conditions: [willBeLate] } }),
          aWorkspace({ status: { phase: 'Ready', components: [component('Ready'), component('Ready')] } }),
          aWorkspace({ status: { phase: 'Failed', components: [component('Ready'), component('Failed')] } }),
        ],
      }),
    );
    expect(await workspaceSamples()).toEqual([
      'ot_workspaces{phase="Unseen"} 1',
      'ot_workspaces{phase="Scheduled"} 1',
      'ot_workspaces{phase="Provisioning"} 0',
      'ot_workspaces{phase="Failed"} 1',
      'ot_workspaces{phase="Ready"} 1',
      'ot_workspaces{phase="Hibernated"} 0',
      'ot_workspace_late 1',
      'ot_workspace_components{phase="Waiting"} 0',
      'ot_workspace_components{phase="Provisioning"} 0',
      'ot_workspace_components{phase="Ready"} 3',
      'ot_workspace_components{phase="Failed"} 1',
      'ot_workspace_components{phase="Skipped"} 0',
      'ot_workspace_components{phase="Terminating"} 0',
    ]);
  });
  test('says nothing where they cannot be read, and all else', async () => {
    const said = quietly();
    observeState(reader({ instead: { Workspace: () => Promise.reject(new Error('forbidden')) } }));
    expect(await workspaceSamples()).toEqual([]);
    expect(await useSamples()).toHaveLength(11);
    expect(said().join()).toContain('metrics without workspaces: forbidden');
  });
});

describe('a read that fails', () => {
  test('is absent from that scrape alone, harms no other metric, and is logged', async () => {
    const world: World = { data: {}, lease: aLease([]), images: [ubuntu] };
    observeState(reader(world));
    expect(await samples()).toHaveLength(11);
    const said = quietly();
    world.instead = { VMDiskImage: () => Promise.reject(new Error('etcd is away')) };
    expect(await samples()).toEqual([
      'ot_slots_held 0',
      'ot_slots_free 4',
      'ot_policy_valid 1',
      'ot_egress_spent_bytes 0',
    ]);
    world.instead = { ConfigMap: () => Promise.reject(new Error('forbidden')) };
    expect((await samples()).map((line) => line.split(/[ {]/)[0])).not.toContain('ot_policy_valid');
    expect(said().join('\n')).toMatch(/metrics without images: etcd is away.*metrics without policy: forbidden/s);
    world.instead = {};
    expect(await samples()).toHaveLength(11);
  });
  test('of the store costs its own metric only', async () => {
    observeState(reader({ lease: aLease([]) }));
    observeDownloads(() => {
      throw new Error('the store is closed');
    });
    const said = quietly();
    expect(await samples()).toHaveLength(11);
    expect(said().join()).toContain('a metric could not be read: Error: the store is closed');
  });
  test('of an API server that never answers ends in time', async () => {
    const never = () => new Promise<never>(() => undefined);
    const instead = { ConfigMap: never, Lease: never, VMDiskImage: never, VirtualMachine: never, Workspace: never };
    observeState(reader({ instead }), { timeoutMs: 10 });
    const said = quietly();
    expect(await allSamples()).toEqual([]);
    expect(said()).toHaveLength(6);
  });
});

test('the bytes of a store are what it has counted by the time of the scrape, until that is ended', async () => {
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
