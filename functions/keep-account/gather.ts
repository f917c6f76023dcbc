import type { Batch, Context } from '../../shared/function.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { getNamed } from '../../shared/runtime/get-named.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import type { Observed } from './decide.ts';

/** All that is made in OpenStack. */
export const kinds: readonly Resource<KubernetesObject>[] = [KupenStackMachine, VirtualNetwork, Volume];

/** The credentials of the namespaces that events are about, and those that an audit names. */
export async function gather({ kube }: Context, batch: Batch): Promise<Observed[]> {
  const secrets = await getNamed(kube, Secret, namesIn(batch));
  return Promise.all(
    secrets.map(async (secret) => {
      const { namespace = '' } = secret.metadata;
      return { secret, isNeeded: (await isAnyThere(kube, namespace, batch)) || (await isAnyIn(kube, namespace)) };
    }),
  );
}

/** The operator's Secret serves all namespaces. Uninstalling the operator deletes machines first. */
const namesIn = ({ subjects, audited = [] }: Batch) =>
  [...new Set([...subjects, ...audited].map(({ namespace = '' }) => namespace))]
    .filter((namespace) => namespace !== operatorNamespace)
    .map((namespace) => ({ namespace, name: credentialsName }));

/** One of the objects that events name exists: that is enough, and needs no list. */
async function isAnyThere(kube: Context['kube'], namespace: string, { subjects }: Batch): Promise<boolean> {
  const own = subjects.filter((subject) => subject.namespace === namespace);
  const found = own.map((subject) => {
    const kind = kinds.find((one) => one.kind === subject.kind);
    return kind && kube.get(kind, subject);
  });
  return (await Promise.all(found)).some((object) => object !== undefined);
}

async function isAnyIn(kube: Context['kube'], namespace: string): Promise<boolean> {
  const isAnyOf = async (kind: Resource<KubernetesObject>) => {
    for await (const { items } of kube.pages(kind, { namespace, limit: 1 })) if (items.length > 0) return true;
    return false;
  };
  return (await Promise.all(kinds.map(isAnyOf))).includes(true);
}
