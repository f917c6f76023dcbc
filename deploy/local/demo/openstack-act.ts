import { readFile } from 'node:fs/promises';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { deleteServer } from '../../../shared/kinds/openstack/server.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { policyRef } from '../../../shared/policy.ts';
import { readCloudsYaml } from '../../../shared/runtime/openstack/clouds-yaml.ts';
import { openSession } from '../../../shared/runtime/openstack/session.ts';
import { applyManifests, documents } from '../../manifests.ts';
import { realClock } from '../clock.ts';
import { startObjectStore } from '../object-store/object-store.ts';
import { cloudsYaml, giveAccount, type Login } from '../openstack/account.ts';
import { startOpenStack } from '../openstack/start-openstack.ts';
import { type LocalCluster, startLocal } from '../start.ts';
import type { Act, Stage } from './act.ts';
import { buckets } from './images.ts';
import { type Watch, type WithPhase, watchOf } from './watcher.ts';

const example = 'crds/examples/kupenstack-virtual-machine-complete.yaml';
const namespace = 'default';
const kinds = [VirtualNetwork, Volume, KupenStackMachine] as readonly Resource[];

type World = Awaited<ReturnType<typeof setUpOpenStack>>;

/**
 * Makes the example's machine on a simulated OpenStack, enlarges it, deletes its server behind everyone's back, and takes it all
 * away again.
 */
export function playOpenStack({ openStack, imageUrl, cluster: { kube } }: World, { seen, command }: Stage) {
  const login = { authUrl: openStack.authUrl, ...openStack.admin };
  let standing: KupenStackMachine['status'];
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
      await applyManifests(kube, await manifests(imageUrl));
      const { metadata, status } = await untilMachine(() => true);

      const patch = `--type merge -p '{"spec":{"vcpu":2}}'`;
      command(`kubectl patch virtualmachines.kupenstack.io ${metadata.name} ${patch}`);
      const patched = await kube.patch(KupenStackMachine, metadata, { spec: { vcpu: 2 } });
      await untilMachine((found) => found.metadata.generation === patched.metadata.generation);

      command(`openstack server delete ${metadata.name}`);
      await adminOf(login).send(deleteServer(status?.id ?? ''));
      standing = (await untilMachine((found) => found.status?.id !== status?.id)).status;

      command('kubectl delete virtualmachines.kupenstack.io,volumes.kupenstack.io,virtualnetworks.kupenstack.io --all');
      for (const kind of kinds.toReversed())
        for (const object of await kube.list(kind, { namespace })) await kube.delete(kind, object.metadata);
      await seen.until(() => kinds.every((kind) => seen.all(kind).length === 0));
    },
    view: () => undefined,
    result: () => ({
      /** How the machine stood when all was made, as `kubectl get -o wide` shows it. */
      machine: {
        phase: standing?.phase ?? '',
        restarts: standing?.restartCount ?? 0,
        node: standing?.node ?? '',
        networks: standing?.ip ?? '',
      },
      /** Requests that made a server; one for the first, one for the one that came back. */
      serversMade: calls.made,
      callsToOpenStack: calls.all,
    }),
  } satisfies Act<unknown, unknown>;
}

/** Their own phase says when they are being deleted. */
const watchOfPhase = (kind: Resource): Watch =>
  watchOf({
    kind: kind as Resource<KubernetesObject & WithPhase>,
    state: ({ status }) => ({ phase: status?.phase ?? '' }),
    shown: ({ status }) => (status?.phase ? { phase: status.phase, remark: status.message ?? '' } : undefined),
  });

/** Ready of the spec as it was written last. */
const isReady = ({ metadata, status }: KupenStackMachine) =>
  status?.observedGeneration === metadata.generation && conditionOf(status?.conditions, 'Ready')?.status === 'True';

/** A local cluster with a simulated OpenStack. */
export async function setUpOpenStack() {
  const openStack = await startOpenStack({ clock: realClock });
  const images = await startObjectStore({ keys: [], publicBuckets: [buckets.open] });
  await images.put(buckets.open, 'cirros.qcow2', Buffer.alloc(1024 * 1024));
  const imageUrl = `${images.url}/${buckets.open}/cirros.qcow2`;
  const cluster: LocalCluster = await startLocal({
    openStack: true,
    simulators: false,
    schedules: { sweep: '* * * * * *', audit: '*/5 * * * * *' },
  });
  await cluster.kube.patch(ConfigMap, policyRef, { data: { allowedSources: imageUrl } });
  const close = async () => {
    await cluster.close();
    await images.close();
    await openStack.close();
  };
  return { openStack, imageUrl, cluster, close };
}

/** The documents of the example; its image is at hand here. */
async function manifests(imageUrl: string): Promise<KubernetesObject[]> {
  const text = await readFile(new URL(`../../../${example}`, import.meta.url), 'utf8');
  return documents(text.replace(/image: https:\S+/, `image: ${imageUrl}`)).map((object) => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  }));
}

/** Its administrator, who may do everything in all projects. */
const adminOf = (login: Login) =>
  openSession(readCloudsYaml(cloudsYaml(login)), {
    fetch,
    now: Date.now,
    watched: (_, run) => run(),
    renewed: () => undefined,
    checked: () => undefined,
  });
