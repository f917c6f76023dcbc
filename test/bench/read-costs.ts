import { setImmediate as nextTurn } from 'node:timers/promises';
import { snapshotFor } from '../../functions/follow-sync/snapshot.ts';
import { type Batch, type Context, type FunctionDeclaration, noEvents } from '../../shared/function.ts';
import { imageReferenceFinalizer, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject, ObjectReference, Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { firstPage, type Kube, type ListOptions, nextPage } from '../../shared/runtime/kube.ts';
import { isUnreadable } from '../../shared/runtime/unreadable.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { memoryKube } from '../support/harness/memory-kube.ts';
import { benchNamespace } from './bench-cluster.ts';
import { finishedName, statusOf } from './finished-images.ts';

/** What one function reads and computes for one batch, beside this many objects. */
export interface ReadCost {
  /** What the objects are. */
  beside: string;
  count: number;
  batch: string;
  function: string;
  requests: number;
  bytes: number;
  cpuMs: number;
  /** The longest time for which nothing else in the process could run. */
  blockMs: number;
}

/** Objects of one kind of crowd, and the events that each function receives about one of them. */
interface Crowd {
  beside: string;
  make(kube: Kube, from: number, to: number): Promise<void>;
  events: Readonly<Record<string, Batch>>;
}

const about = ({ apiVersion, kind }: Resource, ref: ObjectReference): Batch => ({
  ...noEvents,
  subjects: [{ apiVersion, kind, namespace: ref.namespace, name: ref.name, verb: 'update' }],
});

export const audit = 'audit';
const audits = { [audit]: { ...noEvents, audit: true } };

/** As the API server sends it: about half of a machine is what it keeps for server-side apply. */
const managedFields = (bytes: number) => [
  { manager: 'bench', operation: 'Update', fieldsV1: { 'f:status': { 'f:filler': 'x'.repeat(bytes) } } },
];

const many = async (from: number, to: number, make: (index: number) => Promise<unknown>) => {
  for (let index = from; index < to; index++) await make(index);
};

const createImage = (kube: Kube, name: string, users: readonly string[]) => {
  const object = {
    metadata: {
      name,
      namespace: benchNamespace,
      creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers: [diskImageFinalizer],
      managedFields: managedFields(1_500),
    },
    spec: aVMDiskImage({ name, spec: { diskSize: '64Mi' } }).spec,
  };
  return kube.create(VMDiskImage, object).then(async (image) => {
    const { unreferencedSince, ...status } = statusOf(image);
    const references = { count: users.length, by: users.slice(0, 20) };
    const used = users.length > 0 ? { references } : { references, unreferencedSince };
    await kube.patch(VMDiskImage, image.metadata, { status: { ...status, ...used } }, { subresource: 'status' });
    const snapshot = snapshotFor(image, 1, name);
    const metadata = { ...snapshot.metadata, managedFields: managedFields(900) };
    const ready = { status: { readyToUse: true, restoreSize: '64Mi' } };
    await kube.create(VolumeSnapshot, { ...snapshot, metadata, ...ready });
  });
};

const finishedImages: Crowd = {
  beside: 'finished images',
  make: (kube, from, to) => many(from, to, (index) => createImage(kube, finishedName(index), [])),
  events: { 'event of an image': about(VMDiskImage, { namespace: benchNamespace, name: finishedName(0) }) },
};

const machineName = (index: number) => `machine-${String(index).padStart(5, '0')}`;

const createMachine = (kube: Kube, { namespace, name }: ObjectReference, status: object) =>
  kube.create(VirtualMachine, {
    metadata: {
      ...{ name, namespace, creationTimestamp: '2026-01-01T00:00:00Z' },
      ...{ finalizers: [imageReferenceFinalizer], managedFields: managedFields(2_000) },
    },
    spec: {
      resources: { cpu: '2', memory: '2Gi' },
      vmDiskImageRef: { name: 'crowd', namespace: benchNamespace },
      users: [{ name: 'student', ssh_authorized_keys: ['x'.repeat(700)] }],
    },
    status,
  });

const condition = (type: string, reason: string, message: string, status = 'True') => ({
  ...{ type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' },
});

/** With the image that all of them use: ready, or still in the queue. */
const machines = (beside: string, status: object, imageStatus: object): Crowd => ({
  beside,
  async make(kube, from, to) {
    const names = Array.from({ length: to }, (_, index) => machineName(index));
    if (from === 0) await createImage(kube, 'crowd', []);
    await many(from, to, (index) => createMachine(kube, { namespace: 'lab', name: machineName(index) }, status));
    const references = { count: to, by: names.slice(0, 20).map((name) => `lab/${name}`) };
    const patch = { status: { references, unreferencedSince: null, ...imageStatus } };
    await kube.patch(VMDiskImage, { namespace: benchNamespace, name: 'crowd' }, patch, { subresource: 'status' });
  },
  // Neither the first twenty, which the status of the image names, nor the only ones.
  events: { 'event of a machine': about(VirtualMachine, { namespace: 'lab', name: machineName(9) }) },
});

const running = {
  phase: 'Ready',
  message: 'The machine runs.',
  observedGeneration: 1,
  rootDisk: { name: 'disk', snapshot: 'snapshot', image: 'uid', cloned: 'uid' },
  conditions: [condition('ImageReady', 'ImageReady', 'Snapshot is usable.'), condition('DiskReady', 'Cloned', '')],
};

const waiting = {
  phase: 'Provisioning',
  message: `Waiting for VMDiskImage ${benchNamespace}/crowd: Queued.`,
  observedGeneration: 1,
  conditions: [
    condition('ImageReady', 'ImageQueued', `Waiting for VMDiskImage ${benchNamespace}/crowd: Queued.`, 'False'),
  ],
};

const workspaceName = (index: number) => `team-${String(index).padStart(3, '0')}`;

const workspaces: Crowd = {
  beside: 'workspaces, 20 machines each',
  async make(kube, from, to) {
    if (from === 0) await createImage(kube, 'crowd', []);
    await many(from, to, async (index) => {
      const name = workspaceName(index);
      const vms = Array.from({ length: 20 }, (_, vm) => ({
        ...{ name: `vm-${vm}`, backingVMDiskImage: 'crowd', resources: { cpu: '2', memory: '2Gi' } },
      }));
      await kube.create(Workspace, {
        metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z', managedFields: managedFields(4_000) },
        spec: { vms },
        status: {
          ...{ phase: 'Ready', observedGeneration: 1, images: [{ name: 'crowd', namespace: benchNamespace }] },
        },
      });
      await many(0, 20, (vm) => createMachine(kube, { namespace: `ws-${name}`, name: `vm-${vm}` }, running));
    });
    const users = Array.from({ length: to * 20 }, (_, at) => `ws-${workspaceName(Math.floor(at / 20))}/vm-${at % 20}`);
    const references = { count: users.length, by: users.sort().slice(0, 20) };
    const patch = { status: { references, unreferencedSince: null } };
    await kube.patch(VMDiskImage, { namespace: benchNamespace, name: 'crowd' }, patch, { subresource: 'status' });
  },
  events: {
    'event of a machine': about(VirtualMachine, { namespace: `ws-${workspaceName(5)}`, name: 'vm-7' }),
    'event of a workspace': about(Workspace, { name: workspaceName(5) }),
  },
};

export const crowds = {
  finishedImages,
  runningMachines: machines('machines of one image', running, {}),
  waitingMachines: machines('machines that wait for one image', waiting, {
    phase: 'Queued',
    conditions: [],
    snapshot: null,
  }),
  workspaces,
};

/** Measures the events of a crowd, and an audit, beside each number of objects; the numbers must rise. */
export async function measureReads(
  crowd: Crowd,
  functions: readonly FunctionDeclaration[],
  counts: readonly number[],
): Promise<ReadCost[]> {
  const kube = memoryKube();
  const costs: ReadCost[] = [];
  let made = 0;
  for (const count of counts) {
    await crowd.make(kube, made, count);
    made = count;
    const server = rememberingServer(kube);
    for (const [batch, events] of Object.entries({ ...crowd.events, ...audits })) {
      for (const declaration of functions) {
        const cost = await measure(declaration, server, events);
        if (cost.requests > 0) costs.push({ beside: crowd.beside, count, batch, function: declaration.name, ...cost });
      }
    }
  }
  return costs;
}

/** Measured so often, because the clock of CPU time is coarse. */
const runs = 5;

async function measure(declaration: FunctionDeclaration, server: ReturnType<typeof rememberingServer>, batch: Batch) {
  // The first run has the server compute its answers, and the code compiled.
  await reconcileNothing(declaration, server.kube, batch);
  const blocks: number[] = [];
  server.forget();
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run++) {
    const watch = watchTurns();
    await reconcileNothing(declaration, server.kube, batch);
    blocks.push(await watch.end());
  }
  const { user, system } = process.cpuUsage(before);
  return {
    requests: server.asked.requests / runs,
    bytes: server.asked.bytes / runs,
    cpuMs: (user + system) / 1000 / runs,
    blockMs: Math.min(...blocks),
  };
}

/** A reconcile without its writes. */
async function reconcileNothing(declaration: FunctionDeclaration, kube: Context['kube'], batch: Batch) {
  const context = {
    ...{ kube, nowMs: Date.parse('2026-01-02T00:00:00Z'), refusals: new Map(), gracePeriodMs: 0 },
    openClouds: () => [] as never,
  };
  const { split = (one: unknown) => [one] } = declaration;
  for await (const part of partsOf(declaration, context, batch)) {
    const observed = await declaration.observe(context, part);
    for (const one of observed.flatMap((read) => (isUnreadable(read) ? [] : split(read)))) declaration.decide(one);
  }
}

async function* partsOf(declaration: FunctionDeclaration, context: Context, batch: Batch): AsyncGenerator<Batch> {
  if (!batch.audit || !declaration.audit) return yield batch;
  for await (const audited of declaration.audit(context)) if (audited.length > 0) yield { ...batch, audited };
}

/** Finds the most CPU time between two turns of the event loop: what else the machine does is not in it. */
function watchTurns() {
  const ownMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let [isOver, longest, turnMs] = [false, 0, ownMs()];
  const watching = (async () => {
    while (!isOver) {
      await nextTurn();
      longest = Math.max(longest, ownMs() - turnMs);
      turnMs = ownMs();
    }
  })();
  return {
    async end() {
      isOver = true;
      await watching;
      return longest;
    },
  };
}

/** As large as the client asks for them. */
function inPages(items: readonly KubernetesObject[]): KubernetesObject[][] {
  const pages = [];
  let [from, limit] = [0, firstPage];
  do {
    const page = items.slice(from, from + limit);
    pages.push(page);
    from += limit;
    limit = nextPage(page.length, JSON.stringify(page).length);
  } while (from < items.length);
  return pages;
}

/** Answers reads in JSON, as the API server does, and counts them. It computes each answer once, so that its own work is not measured. */
function rememberingServer(kube: Kube) {
  const asked = { requests: 0, bytes: 0 };
  const known = new Map<string, string[]>();
  const answersTo = async (key: string, compute: () => Promise<unknown[]>) => {
    const found = known.get(key) ?? (await compute()).map((answer) => JSON.stringify(answer));
    known.set(key, found);
    return found;
  };
  const parsed = async (text: string) => {
    asked.requests++;
    asked.bytes += text.length;
    // What comes over a network comes in a later turn.
    await nextTurn();
    return JSON.parse(text) as unknown;
  };
  async function* pages<T extends KubernetesObject>(resource: Resource<T>, options: ListOptions = {}) {
    const rows = async () => inPages(await kube.list(resource, options));
    for (const text of await answersTo(JSON.stringify([resource.kind, resource.apiVersion, options]), rows)) {
      const items = (await parsed(text)) as unknown[];
      yield { items: items.map((item) => resource.parse(item)), resourceVersion: '1' };
    }
  }
  const client: Context['kube'] = {
    pages,
    async get(resource, ref) {
      const key = JSON.stringify([resource.kind, resource.apiVersion, ref.namespace, ref.name]);
      const [text = ''] = await answersTo(key, async () => [(await kube.get(resource, ref)) ?? null]);
      const found = await parsed(text);
      return found === null ? undefined : resource.parse(found);
    },
    async list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions) {
      const items: T[] = [];
      for await (const page of pages(resource, options)) items.push(...page.items);
      return items;
    },
  };
  const forget = () => Object.assign(asked, { requests: 0, bytes: 0 });
  return { kube: client, asked, forget };
}
