import { uniqueByName } from '../../shared/distinct.ts';
import { type Batch, type Context, defineFunction, on, subjectsOf } from '../../shared/function.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { onClouds } from '../../shared/runtime/openstack/by-namespace.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { decide } from './decide.ts';
import type { Observed } from './observed.ts';
import { readProject } from './gather.ts';

/** Makes machines on OpenStack from volumes, keeps them as their specs say, and says how they stand. */
export default defineFunction<Observed>({
  name: 'provision-server',
  part: 'openstack',
  on: [
    on.changed(KupenStackMachine, { source: 'kupenstack' }),
    on.changed(VirtualNetwork, { source: 'kupenstack' }),
    on.changed(Volume, { source: 'kupenstack' }),
    on.sweep(),
    on.audit(),
  ],
  may: [
    { resource: KupenStackMachine, verbs: ['get', 'list', 'patch'] },
    { resource: KupenStackMachine, subresource: 'status', verbs: ['patch'] },
    { resource: VirtualNetwork, verbs: ['list'] },
    { resource: Volume, verbs: ['list'] },
    { resource: Secret, verbs: ['get'], names: [credentialsName] },
    { resource: Namespace, verbs: ['get'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'single',
  observe,
  decide,
});

async function observe(context: Context, batch: Batch): Promise<Observed[]> {
  const { kube, nowMs, refusals } = context;
  const machines = await concerned(context, batch);
  const siblings = new Map(
    await Promise.all(
      [...new Set(machines.map(({ metadata }) => metadata.namespace ?? ''))].map(async (namespace) => {
        const [networks, volumes] = await Promise.all([
          kube.list(VirtualNetwork, { namespace }),
          kube.list(Volume, { namespace }),
        ]);
        return [namespace, { networks, volumes }] as const;
      }),
    ),
  );
  return onClouds(
    context,
    machines,
    (cloud, group) => readProject(kube, cloud, group),
    (machine, cloud, policy) => {
      const { networks = [], volumes = [] } = siblings.get(machine.metadata.namespace ?? '') ?? {};
      const { spec } = machine;
      return {
        nowMs,
        policy,
        refusals,
        machine,
        networks: networks.filter(({ metadata }) => spec.virtualNetworks?.includes(metadata.name)),
        volumes: volumes.filter(({ metadata }) => spec.diskAttachments.some(({ name }) => name === metadata.name)),
        cloud: 'fault' in cloud ? cloud : cloud.of(machine),
      };
    },
  );
}

/**
 * Those that events name, and those on a network or a volume that changed; all at a sweep: OpenStack tells of nothing that happens
 * behind our back.
 */
async function concerned({ kube }: Context, batch: Batch): Promise<KupenStackMachine[]> {
  if (batch.sweep || batch.audit) return kube.list(KupenStackMachine);
  const networks = subjectsOf(batch, VirtualNetwork);
  const volumes = subjectsOf(batch, Volume);
  const namespaces = [...new Set([...networks, ...volumes].map(({ namespace }) => namespace ?? ''))];
  const listed = await Promise.all(namespaces.map((namespace) => kube.list(KupenStackMachine, { namespace })));
  const using = listed
    .flat()
    .filter(
      ({ metadata: { namespace }, spec }) =>
        networks.some((one) => one.namespace === namespace && spec.virtualNetworks?.includes(one.name)) ||
        volumes.some(
          (one) => one.namespace === namespace && spec.diskAttachments.some(({ name }) => name === one.name),
        ),
    );
  const named = await Promise.all(subjectsOf(batch, KupenStackMachine).map((ref) => kube.get(KupenStackMachine, ref)));
  const all = [...using, ...named.filter((machine) => machine !== undefined)];
  return uniqueByName(all);
}
