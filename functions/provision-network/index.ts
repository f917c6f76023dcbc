import { uniqueByName } from '../../shared/distinct.ts';
import { type Batch, type Context, defineFunction, on, subjectsOf } from '../../shared/function.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { listNetworks, listSubnets, Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import { isReady } from '../../shared/openstack/status.ts';
import { onClouds } from '../../shared/runtime/openstack/by-namespace.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { decide } from './decide.ts';
import type { Observed } from './observed.ts';

/** Makes networks on OpenStack, each with its subnet, and says how they stand. */
export default defineFunction<Observed>({
  name: 'provision-network',
  system: 'openstack',
  part: 'openstack',
  on: [on.changed(VirtualNetwork, { source: 'kupenstack' }), on.sweep(), on.audit()],
  may: [
    { resource: VirtualNetwork, verbs: ['get', 'list', 'patch'] },
    { resource: VirtualNetwork, subresource: 'status', verbs: ['patch'] },
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
  const { nowMs, refusals } = context;
  const networks = await concerned(context, batch);
  return onClouds(
    context,
    networks,
    async (cloud) => {
      const [found, subnets] = await Promise.all([
        cloud.list(listNetworks(cloud.project), 'networks', Network),
        cloud.list(listSubnets(cloud.project), 'subnets', Subnet),
      ]);
      return { networks: found, subnets };
    },
    (network, cloud) => ({ nowMs, refusals, network, cloud }),
  );
}

/** Those that events name; at a sweep all that are not as they should be, at an audit all. */
async function concerned({ kube }: Context, batch: Batch): Promise<VirtualNetwork[]> {
  if (batch.audit) return kube.list(VirtualNetwork);
  const open = batch.sweep ? (await kube.list(VirtualNetwork)).filter((one) => !isReady(one)) : [];
  const named = await Promise.all(subjectsOf(batch, VirtualNetwork).map((ref) => kube.get(VirtualNetwork, ref)));
  const all = [...open, ...named.filter((network) => network !== undefined)];
  return uniqueByName(all);
}
