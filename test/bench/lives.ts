import { generatedFolders, readManifests } from '../../deploy/manifests.ts';
import { loadFunctions } from '../../knative/functions.ts';
import { Trigger } from '../../shared/kinds/eventing/trigger.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf, type Resource } from '../../shared/kinds/resource.ts';
import { operatorNamespace, publicBroker } from '../../shared/operator.ts';
import { putImage } from '../stories/images.ts';
import { onLocalCluster } from '../stories/local-world.ts';
import { createMachine, untilMachine } from '../stories/machines.ts';
import { calm } from '../stories/subscriptions.ts';
import { aLab, createWorkspace, policyOf, readyWorkspace, untilWorkspace } from '../stories/workspaces.ts';
import { createImage, untilGone, untilPhase, type World } from '../stories/world.ts';
import { notInThisRun } from './bench-cluster.ts';
import { callsOf, isRead } from './calls.ts';
import { countOutcomes, type EventOutcome } from './event-outcomes.ts';

/** A part of an object's life, and what it causes, with the real timing of CDI, the snapshotter and KubeVirt. */
export interface Life {
  what: LifeName;
  /** How many objects went through it. */
  objects: number;
  /** Events that were delivered to functions, by what happened and the Trigger. */
  deliveries: ReadonlyMap<string, number>;
  /** Deliveries of an event that its function had not taken before, as after a conflict. */
  repeated: number;
  /** Writes by function, verb and kind; those that the API server did not do are one. */
  writes: ReadonlyMap<string, number>;
  reads: number;
  /** Facts, and the other events that some Trigger lets through; by what happened. */
  events: ReadonlyMap<string, number>;
  /** The hops of these events through the filter: each event passes every Trigger of its Broker, whether it wants it or not. */
  hops: ReadonlyMap<string, number>;
  outcomes: readonly EventOutcome[];
}

export const lifeNames = [
  'an image is synced',
  'an image is deleted',
  'a machine starts',
  'a machine is deleted',
  'a workspace becomes ready',
  'a workspace is deleted',
] as const;
export type LifeName = (typeof lifeNames)[number];

/** Of all functions together: it is by chance who meets whom. */
const refused = 'the API server refused';

export const sumOf = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((sum, one) => sum + one, 0);

const [images, machines, workspaces] = [10, 5, 3];
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** Lets every fact through and delivers none, so that those are counted, too, that no function wants. */
const observer = {
  metadata: { namespace: operatorNamespace, name: 'observer' },
  spec: { broker: publicBroker, subscriber: { uri: 'http://observer.invalid/' } },
};

/** Counts what the Triggers let through and what the functions ask of the API server. No timer fires. */
export async function countLives(): Promise<Life[]> {
  const functions = (await loadFunctions()).map(({ name }) => name);
  const brokers = new Map(
    (await readManifests(...generatedFolders))
      .filter(({ kind }) => kind === Trigger.kind)
      .map((manifest) => Trigger.parse(manifest))
      .map(({ metadata, spec }) => [`${metadata.namespace}/${metadata.name}`, spec?.broker]),
  );
  const triggersOf = (broker: string | undefined) => [...brokers.values()].filter((one) => one === broker).length;
  const nothing = () => ({
    deliveries: new Map<string, number>(),
    attempts: new Set<string>(),
    repeated: 0,
    seen: new Map<string, { what: string; hops: number }>(),
  });
  let now = nothing();
  const { outcomes, serve } = countOutcomes();
  const lives: Life[] = [];
  let requests = () => new Map<string, number>();
  let idle = async () => {};
  const story = {
    name: 'lives of objects',
    policy: { concurrency: '4', ...policyOf },
    local: {
      serveFunctions: serve,
      schedules: { sweep: notInThisRun(), audit: notInThisRun() },
      faults: {
        drop: ({ event, trigger }: { event: { attributes: Record<string, unknown> }; trigger: string }) => {
          const isObserved = trigger === keyOf(observer.metadata);
          const what = happened(event.attributes);
          const hops = triggersOf(isObserved ? publicBroker : brokers.get(trigger));
          now.seen.set(String(event.attributes.id), { what, hops });
          if (isObserved) return true;
          const attempt = `${event.attributes.id} ${trigger}`;
          if (now.attempts.has(attempt)) now.repeated++;
          else add(now.deliveries, `${what} → ${trigger.slice(trigger.indexOf('/') + 1)}`, 1);
          now.attempts.add(attempt);
          return false;
        },
      },
    },
    run: async (world: World) => {
      const rest = async () => {
        await calm(world);
        await idle();
      };
      const live = async (what: LifeName, objects: number, run: () => Promise<unknown>) => {
        await rest();
        now = nothing();
        outcomes.clear();
        const before = requests();
        await run();
        await rest();
        const { deliveries, repeated, seen } = now;
        now = nothing();
        const [events, hops, writes] = [new Map(), new Map(), new Map()];
        for (const one of seen.values()) {
          add(events, one.what, 1);
          add(hops, one.what, one.hops);
        }
        const grown = [...requests()].map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const);
        const calls = callsOf(new Map(grown), functions).filter(({ count, verb }) => count > 0 && verb !== 'watch');
        for (const call of calls.filter((one) => !isRead(one)))
          add(writes, call.isDone ? `${call.function} ${call.verb} ${call.resource}` : refused, call.count);
        const reads = calls.filter(isRead).reduce((sum, { count }) => sum + count, 0);
        lives.push({
          what,
          objects,
          deliveries,
          repeated,
          writes,
          reads,
          events,
          hops,
          outcomes: [...outcomes.values()],
        });
      };
      await allLives(world, live);
    },
  };
  await onLocalCluster(story, undefined, async ({ server, eventing, kube }) => {
    requests = server.requests;
    idle = () => eventing.idle();
    await kube.create(Trigger, observer);
  });
  return lives;
}

/** What begins with the cluster is no object's: processes publish again what was published shortly before they began. */
async function allLives(
  world: World,
  live: (what: LifeName, objects: number, run: () => Promise<unknown>) => Promise<void>,
) {
  const { kube, namespace } = world;
  const gone = async (resource: Resource, all: readonly string[], where: { namespace?: string }) => {
    for (const name of all) await kube.delete(resource, { ...where, name });
    for (const name of all) await untilGone(world, resource, { ...where, name });
  };
  const sync = async (all: readonly string[]) => {
    for (const name of all) await createImage(world, name, { url: `${world.store.url}/images/one.qcow2` });
    for (const name of all) await untilPhase(world, name, 'Succeeded');
  };
  const start = async (all: readonly string[]) => {
    for (const name of all) await createMachine(world, name, 'first');
    for (const name of all) await untilMachine(world, name, 'Ready');
  };
  const compose = async (all: readonly string[]) => {
    for (const name of all) await createWorkspace(world, name, aLab(world));
    for (const name of all) await untilWorkspace(world, name, 'Ready');
  };
  await putImage(world, 'one', { key: 'one.qcow2' });
  await putImage(world, 'base');
  await sync(['first']);
  await live('an image is synced', images, () => sync(names('image', images)));
  await live('an image is deleted', images, () => gone(VMDiskImage, names('image', images), { namespace }));
  await start(['other']);
  await live('a machine starts', machines, () => start(names('machine', machines)));
  await live('a machine is deleted', machines, () => gone(VirtualMachine, names('machine', machines), { namespace }));
  await readyWorkspace(world, 'other', aLab(world));
  await live('a workspace becomes ready', workspaces, () => compose(names('lab', workspaces)));
  await live('a workspace is deleted', workspaces, () => gone(Workspace, names('lab', workspaces), {}));
}

/** `DataVolume update`, or the type of a fact. Two kinds are VirtualMachines. */
function happened({ apiversion, kind, type }: Record<string, unknown>): string {
  const all = String(type);
  const whose = String(apiversion).startsWith('kubevirt.io/') ? 'kubevirt.io ' : '';
  return kind === undefined ? all : `${whose}${kind} ${all.slice(all.lastIndexOf('.') + 1)}`;
}

const add = (counts: Map<string, number>, key: string, count: number) =>
  void counts.set(key, (counts.get(key) ?? 0) + count);
