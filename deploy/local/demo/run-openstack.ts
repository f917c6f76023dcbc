import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { readCloudsYaml } from '../../../shared/runtime/openstack/clouds-yaml.ts';
import { openSession } from '../../../shared/runtime/openstack/session.ts';
import { applyManifests, documents } from '../../manifests.ts';
import { realClock } from '../clock.ts';
import { accountManifest, cloudsYaml } from '../openstack/account.ts';
import { type OpenStack, startOpenStack } from '../openstack/start-openstack.ts';
import { startLocal } from '../start.ts';

/** What came of the demo with OpenStack. */
export interface OpenStackDemoResult {
  ok: boolean;
  /** What was expected and found otherwise, a line each. */
  faults: string[];
  seconds: number;
  /** How the machine stood when all was made, as `kubectl get -o wide` shows it. */
  machine: { phase: string; restarts: number; node: string; networks: string };
  /** Requests that made a server; one for the first, one for the one that came back. */
  serversMade: number;
  callsToOpenStack: number;
}

export interface OpenStackDemoOptions {
  signal: AbortSignal;
  /** An object took a step, so long after the beginning. */
  onStep(step: { kind: string; name: string; phase: string; message: string }, elapsedMs: number): void;
  onCommand(command: string, elapsedMs: number): void;
}

const example = 'crds/examples/kupenstack-virtual-machine-complete.yaml';
const namespace = 'default';
const kinds = [VirtualNetwork, Volume, KupenStackMachine] as const;

/**
 * Makes the example's machine on a simulated OpenStack, enlarges it, deletes its server behind everybody's back, and takes it all
 * away again.
 */
export async function runOpenStackDemo({
  signal,
  onStep,
  onCommand,
}: OpenStackDemoOptions): Promise<OpenStackDemoResult> {
  const startedMs = Date.now();
  const elapsedMs = () => Date.now() - startedMs;
  const openStack = await startOpenStack({ clock: realClock });
  const images = await serveAnImage();
  const cluster = await startLocal({
    openStack: true,
    simulators: false,
    schedules: { sweep: '* * * * * *', audit: '*/5 * * * * *' },
  });
  const ends = new AbortController();
  try {
    const { kube } = cluster;
    const calls = countingIn(openStack);
    const watching = watchAll(kube, AbortSignal.any([signal, ends.signal]), (step) => onStep(step, elapsedMs()));
    const login = { authUrl: openStack.authUrl, ...openStack.admin };
    await applyManifests(kube, [accountManifest(login) as unknown as KubernetesObject]);
    onCommand(`kubectl apply -f ${example}`, elapsedMs());
    await applyManifests(kube, await manifests(images.url));
    const made = await watching.untilMachine(isReady);
    const { status } = made;

    onCommand(
      `kubectl patch virtualmachines.kupenstack.io ${made.metadata.name} --type merge -p '{"spec":{"vcpu":2}}'`,
      elapsedMs(),
    );
    const patched = await kube.patch(KupenStackMachine, made.metadata, { spec: { vcpu: 2 } });
    await watching.untilMachine(
      (machine) => isReady(machine) && machine.metadata.generation === patched.metadata.generation,
    );

    onCommand(`openstack server delete ${made.metadata.name}`, elapsedMs());
    await deleteServer(login, status?.id ?? '');
    const another = await watching.untilMachine((machine) => isReady(machine) && machine.status?.id !== status?.id);

    onCommand(
      'kubectl delete virtualmachines.kupenstack.io,volumes.kupenstack.io,virtualnetworks.kupenstack.io --all',
      elapsedMs(),
    );
    for (const kind of kinds.toReversed())
      for (const { metadata } of await kube.list(kind as Resource, { namespace })) await kube.delete(kind, metadata);
    await watching.untilNothing();
    return judged({
      seconds: elapsedMs() / 1000,
      machine: {
        phase: another.status?.phase ?? '',
        restarts: another.status?.restartCount ?? 0,
        node: another.status?.node ?? '',
        networks: another.status?.ip ?? '',
      },
      serversMade: calls.made,
      callsToOpenStack: calls.all,
    });
  } finally {
    ends.abort();
    await cluster.close();
    await images.close();
    await openStack.close();
  }
}

/** The documents of the example; its image is at hand here. */
async function manifests(imageUrl: string): Promise<KubernetesObject[]> {
  const text = await readFile(new URL(`../../../${example}`, import.meta.url), 'utf8');
  return documents(text.replace(/image: https:\S+/, `image: ${imageUrl}`)).map((object) => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  }));
}

/** Ready of the spec as it was written last. */
const isReady = ({ metadata, status }: KupenStackMachine) =>
  status?.observedGeneration === metadata.generation &&
  status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

interface Step {
  kind: string;
  name: string;
  phase: string;
  message: string;
}

/** Follows the three kinds, and tells of each change of a phase. */
function watchAll(kube: Kube, signal: AbortSignal, onStep: (step: Step) => void) {
  const there = new Map<string, { phase: string; object: KubernetesObject }>();
  const waiting = new Set<() => void>();
  const heard = (type: string, object: KubernetesObject) => {
    const step = type === 'DELETED' ? gone(object) : stepOf(object);
    const key = `${object.kind} ${object.metadata.name}`;
    const before = there.get(key)?.phase;
    if (type === 'DELETED') there.delete(key);
    else there.set(key, { phase: step.phase, object });
    if (step.phase !== '' && step.phase !== before) onStep(step);
    for (const look of [...waiting]) look();
  };
  for (const kind of kinds as readonly Resource[]) void follow(kube, kind, signal, heard);
  const until = <T>(found: () => T | undefined) =>
    new Promise<T>((resolve, reject) => {
      const look = () => {
        const value = found();
        if (value === undefined) return;
        waiting.delete(look);
        resolve(value);
      };
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      waiting.add(look);
      look();
    });
  return {
    untilMachine: (isSo: (machine: KupenStackMachine) => boolean) =>
      until(() => {
        const found = there.values().find(({ object }) => object.kind === KupenStackMachine.kind)?.object;
        return found && isSo(found as KupenStackMachine) ? (found as KupenStackMachine) : undefined;
      }),
    untilNothing: () => until(() => (there.size === 0 ? true : undefined)),
  };
}

const gone = ({ kind, metadata }: KubernetesObject): Step => ({
  kind,
  name: metadata.name,
  phase: 'Gone',
  message: '',
});

function stepOf(object: KubernetesObject): Step {
  const { phase = '', message = '' } = (object as { status?: { phase?: string; message?: string } }).status ?? {};
  return { kind: object.kind, name: object.metadata.name, phase, message };
}

/** A watch ends when nothing comes for a while, and is begun anew. */
async function follow(
  kube: Kube,
  kind: Resource,
  signal: AbortSignal,
  onChange: (type: string, object: KubernetesObject) => void,
): Promise<void> {
  while (!signal.aborted) {
    await kube.watch(kind, { namespace, signal }, ({ type, object }) => onChange(type, object)).catch(() => undefined);
  }
}

/** As its administrator would, in all projects. */
async function deleteServer(login: Parameters<typeof cloudsYaml>[0], id: string): Promise<void> {
  const session = openSession(readCloudsYaml(cloudsYaml(login)), {
    fetch,
    now: Date.now,
    watched: (_, run) => run(),
    renewed: () => undefined,
    checked: () => undefined,
  });
  await session.send({ service: 'compute', operation: 'deleteServer', method: 'DELETE', path: `/servers/${id}` });
}

function countingIn(openStack: OpenStack) {
  const calls = { all: 0, made: 0 };
  openStack.onCall(({ operation, status }) => {
    calls.all++;
    if (operation === 'createServer' && status < 300) calls.made++;
  });
  return calls;
}

function judged(result: Omit<OpenStackDemoResult, 'ok' | 'faults'>): OpenStackDemoResult {
  const { machine, serversMade } = result;
  const faults = [
    ...(machine.phase === 'Running'
      ? []
      : [`machine: expected it to be Running again, found ${machine.phase || 'nothing'}`]),
    ...(/^net-db\(10\.10\.120\.\d+\)$/.test(machine.networks)
      ? []
      : [`machine: expected an address on net-db, found ${machine.networks || 'none'}`]),
    ...(serversMade === 2 ? [] : [`servers: expected two to be made, one for the one deleted, found ${serversMade}`]),
  ];
  return { ok: faults.length === 0, faults, ...result };
}

/** A web server that Glance can download the example's image from. */
async function serveAnImage() {
  const content = Buffer.alloc(1024 * 1024);
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': String(content.length) }).end(content);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/cirros.qcow2`,
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}
