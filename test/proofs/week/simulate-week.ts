import { createObject } from '../../../deploy/local/api-server/create-object.ts';
import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import { systemWrite } from '../../../deploy/local/api-server/system-change.ts';
import type { StoreEvent } from '../../../deploy/local/api-server/watch-log.ts';
import { seeded } from '../../../deploy/local/seeded.ts';
import { loadFunctions } from '../../../knative/functions.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { policyRef } from '../../../shared/policy.ts';
import { startCluster } from '../simulation/cluster.ts';
import { Faults } from '../simulation/faults.ts';
import { Recorder } from '../simulation/recorder.ts';
import { kubeOf } from '../simulation/requests.ts';
import { Scheduler } from '../simulation/scheduler.ts';
import { startSystem } from '../simulation/start-system.ts';
import { storeKeys } from '../simulation/store-writer.ts';
import { uids } from '../simulation/uids.ts';
import { type Booking, type Content, hourMs, troubles } from './bookings.ts';

/** What the week needs. Sources are not inspected: how much an image is shows only how long it took. */
const names = ['start-sync', 'follow-sync', 'count-refs', 'prune', 'ensure-vmdi', 'provision-vm', 'compose-workspace'];
const declarations = (await loadFunctions()).filter(({ name }) => names.includes(name));

/** Audits come as in a cluster, sweeps four times as seldom, so that a week takes minutes. */
const timers = { sweep: 120_000, audit: 600_000 };

export const startMs = Date.parse('2026-01-05T00:00:00Z');
export const concurrency = 4;

/** Seven days, the labs that end on the eighth, and a day until their images are deleted. */
const endMs = 10 * 24 * hourMs;

/** What happened to an object. */
export interface Seen {
  atMs: number;
  type: StoreEvent['type'];
  resource: string;
  object: ApiObject;
}

/** Every change of the kinds that the judge looks at, and what is left at the end. */
export interface Week {
  seen: readonly Seen[];
  left: readonly string[];
  steps: number;
}

const judged: readonly string[] = [storeKeys.images, storeKeys.pods, storeKeys.kubeVirtMachines, storeKeys.workspaces];

/** Lives through the week: the labs are created as they are booked, and users annotate them. A deaf one loses every event but the timers'. */
export async function simulateWeek(
  { labs, contents }: { labs: readonly Booking[]; contents: readonly Content[] },
  { seed, isDeaf = false }: { seed: number; isDeaf?: boolean },
): Promise<Week> {
  const scheduler = new Scheduler(() => 0, startMs);
  const policy = {
    concurrency: `${concurrency}`,
    startTimeout: '10m',
    syncTimeout: '6h',
    snapshotTimeout: '10m',
    workspaceImagesKeptFor: '24h',
    networkProvider: 'bridge',
  };
  const state = await startCluster(scheduler, uids(seed), 'thin', policy);
  const faults = new Faults([]);
  const recorder = new Recorder(state.store, scheduler.now, []);
  const around = { state, scheduler, faults, recorder };
  const seen: Seen[] = [];
  const took = new Map(contents.map(({ name, downloadMs }) => [name, downloadMs]));
  const halfMsOf = ({ spec }: ApiObject) => {
    const { url = '' } = (spec as { source?: { s3?: { url?: string } } }).source?.s3 ?? {};
    const sinceMs = scheduler.now() - startMs;
    const factor = sinceMs >= troubles.slow[0] && sinceMs < troubles.slow[1] ? 3 : 1;
    return ((took.get(contentOf(url)) ?? 0) * factor) / 2;
  };
  startSystem(declarations, {
    ...around,
    random: seeded(seed),
    readSource: () => Promise.reject(new Error('no source is read')),
    isDeaf,
    timers,
    halfMsOf,
  });
  state.store.observe(({ type, resource, object }) => {
    if (judged.includes(resource)) seen.push({ atMs: scheduler.now() - startMs, type, resource, object });
  });

  const user = kubeOf(state, 'user', (_, run) => run());
  const kind = state.kinds.byKind(Workspace.apiVersion, Workspace.kind);
  if (!kind) throw new Error('expected the kind Workspace to be served, found none');
  const at = (atMs: number, step: () => Promise<unknown>) => scheduler.after(atMs, async () => void (await step()));
  for (const lab of labs) {
    at(lab.createdMs, () => createObject(state, kind, undefined, workspaceOf(lab), systemWrite('user')));
    for (const { atMs, annotations } of lab.annotations)
      at(atMs, () => user.patch(Workspace, { name: lab.name }, { metadata: { annotations } }));
  }
  const pause = (data: object) => user.patch(ConfigMap, policyRef, { data });
  at(troubles.paused[0], () => pause({ concurrency: '0' }));
  at(troubles.paused[1], () => pause({ concurrency: `${concurrency}` }));

  while (scheduler.now() < startMs + endMs) await scheduler.next();
  // Steps would otherwise keep timers and signals of the process from running.
  await new Promise<void>((resolve) => setImmediate(resolve));
  const others = [
    storeKeys.machines,
    storeKeys.dataVolumes,
    storeKeys.claims,
    storeKeys.snapshots,
    storeKeys.instances,
  ];
  const left = [...judged, ...others].flatMap((key) =>
    state.store.list(key).map(({ metadata }) => `${key} ${metadata.name}`),
  );
  const namespaces = state.store.list(storeKeys.namespaces).map(({ metadata }) => metadata.name);
  return { seen, left: [...left, ...namespaces.filter((name) => name.startsWith('ws-'))], steps: scheduler.taken };
}

/** "https://s3.eu-west-1.amazonaws.com/images/course-1-0.qcow2" → "course-1-0" */
const contentOf = (url: string) => url.split('/').at(-1)?.split('.')[0] ?? '';

const workspaceOf = ({ name, images, spec }: Booking) => ({
  apiVersion: Workspace.apiVersion,
  kind: Workspace.kind,
  metadata: { name },
  spec: {
    ...spec,
    vms: images.map((image, index) => ({
      name: `vm-${index}`,
      backingVMDiskImage: image,
      resources: { cpu: '1', memory: '512Mi' },
      vmDiskImageTemplate: {
        url: `https://s3.eu-west-1.amazonaws.com/images/${image}.qcow2`,
        sourceType: 's3',
        secretRef: 's3-reader',
        storageClass: 'gp3',
        snapshotClass: 'ebs-snapshot',
        diskSize: '64Mi',
      },
    })),
  },
});
