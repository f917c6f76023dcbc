import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { policyRef } from '../../../shared/policy.ts';
import { readCloudsYaml } from '../../../shared/runtime/openstack/clouds-yaml.ts';
import { openSession } from '../../../shared/runtime/openstack/session.ts';
import { applyManifests, documents } from '../../manifests.ts';
import { realClock } from '../clock.ts';
import { cloudsYaml, giveAccount, type Login } from '../openstack/account.ts';
import { startOpenStack } from '../openstack/start-openstack.ts';
import { type LocalCluster, startLocal } from '../start.ts';
import type { Act, Stage } from './act.ts';
import { type Watch, watchOf } from './watcher.ts';

const example = 'crds/examples/kupenstack-virtual-machine-complete.yaml';
const namespace = 'default';
const kinds = [VirtualNetwork, Volume, KupenStackMachine] as readonly Resource[];

type World = Awaited<ReturnType<typeof setUpOpenStack>>;

/**
 * Makes the example's machine on a simulated OpenStack, enlarges it, deletes its server behind everyone's back, and takes it all
 * away again.
 */
export function playOpenStack({ openStack, images, cluster: { kube } }: World, { seen, command }: Stage) {
  const login = { authUrl: openStack.authUrl, ...openStack.admin };
  const machine = { phase: '', restarts: 0, node: '', networks: '' };
  const calls = { all: 0, made: 0 };
  openStack.onCall(({ operation, status }) => {
    calls.all++;
    if (operation === 'createServer' && status < 300) calls.made++;
  });
  const untilMachine = (isSo: (machine: KupenStackMachine) => boolean) =>
    seen.until(() => seen.all(KupenStackMachine).find((found) => isReady(found) && isSo(found)));

  return {
    watches: kinds.map(watchOfPhase),
    async play() {
      await giveAccount(kube, login);
      command(`kubectl apply -f ${example}`);
      await applyManifests(kube, await manifests(images.url));
      const { metadata, status } = await untilMachine(() => true);

      const patch = `--type merge -p '{"spec":{"vcpu":2}}'`;
      command(`kubectl patch virtualmachines.kupenstack.io ${metadata.name} ${patch}`);
      const patched = await kube.patch(KupenStackMachine, metadata, { spec: { vcpu: 2 } });
      await untilMachine((found) => found.metadata.generation === patched.metadata.generation);

      command(`openstack server delete ${metadata.name}`);
      await deleteServer(login, status?.id ?? '');
      const another = await untilMachine((found) => found.status?.id !== status?.id);
      machine.phase = another.status?.phase ?? '';
      machine.restarts = another.status?.restartCount ?? 0;
      machine.node = another.status?.node ?? '';
      machine.networks = another.status?.ip ?? '';

      command('kubectl delete virtualmachines.kupenstack.io,volumes.kupenstack.io,virtualnetworks.kupenstack.io --all');
      for (const kind of kinds.toReversed())
        for (const object of await kube.list(kind, { namespace })) await kube.delete(kind, object.metadata);
      await seen.until(() => kinds.every((kind) => seen.all(kind).length === 0));
    },
    view: () => undefined,
    result: () => ({
      /** How the machine stood when all was made, as `kubectl get -o wide` shows it. */
      machine,
      /** Requests that made a server; one for the first, one for the one that came back. */
      serversMade: calls.made,
      callsToOpenStack: calls.all,
    }),
  } satisfies Act<unknown, unknown>;
}

const watchOfPhase = (kind: Resource): Watch => {
  const statusOf = (object: KubernetesObject) =>
    (object as { status?: { phase?: string; message?: string } }).status ?? {};
  return watchOf({
    kind,
    state: (object) => ({ phase: statusOf(object).phase ?? '' }),
    shown: (object) => {
      const { phase, message = '' } = statusOf(object);
      return phase ? { phase, remark: message } : undefined;
    },
  });
};

/** Ready of the spec as it was written last. */
const isReady = ({ metadata, status }: KupenStackMachine) =>
  status?.observedGeneration === metadata.generation && conditionOf(status?.conditions, 'Ready')?.status === 'True';

/** A local cluster with a simulated OpenStack. */
export async function setUpOpenStack() {
  const openStack = await startOpenStack({ clock: realClock });
  const images = await serveAnImage();
  const cluster: LocalCluster = await startLocal({
    openStack: true,
    simulators: false,
    schedules: { sweep: '* * * * * *', audit: '*/5 * * * * *' },
  });
  await cluster.kube.patch(ConfigMap, policyRef, { data: { allowedSources: images.url } });
  const close = async () => {
    await cluster.close();
    await images.close();
    await openStack.close();
  };
  return { openStack, images, cluster, close };
}

/** The documents of the example; its image is at hand here. */
async function manifests(imageUrl: string): Promise<KubernetesObject[]> {
  const text = await readFile(new URL(`../../../${example}`, import.meta.url), 'utf8');
  return documents(text.replace(/image: https:\S+/, `image: ${imageUrl}`)).map((object) => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  }));
}

/** As its administrator would, in all projects. */
async function deleteServer(login: Login, id: string): Promise<void> {
  const session = openSession(readCloudsYaml(cloudsYaml(login)), {
    fetch,
    now: Date.now,
    watched: (_, run) => run(),
    renewed: () => undefined,
    checked: () => undefined,
  });
  await session.send({ service: 'compute', operation: 'deleteServer', method: 'DELETE', path: `/servers/${id}` });
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
