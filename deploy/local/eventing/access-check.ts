import { guessedPlural } from '../../../knative/plural.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { isAllowed } from '../controller/access-review.ts';
import type { ApiServerSource } from './resources.ts';

const verbs = ['get', 'list', 'watch'];

/**
 * Throws where the source's ServiceAccount may not get, list and watch all that the source is to watch: Knative asks
 * that first, and starts no adapter otherwise (knative.dev/eventing, pkg/reconciler/apiserversource: runAccessCheck).
 */
export async function checkAccess({ metadata, spec }: ApiServerSource, kube: Pick<Kube, 'create'>): Promise<void> {
  const { namespace: own = '' } = metadata;
  const user = `system:serviceaccount:${own}:${spec.serviceAccountName}`;
  // Of the namespaces that a selector names Knative asks one by one; here it is asked about all of them at once.
  const namespace = spec.namespaceSelector ? '' : own;
  const asked = spec.resources.flatMap(({ apiVersion, kind }) => {
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
    return verbs.map((verb) => ({ verb, group, resource: guessedPlural(kind), namespace }));
  });
  const answers = await Promise.all(
    asked.map(async (resourceAttributes) => {
      const isGranted = await isAllowed(kube, { user, resourceAttributes });
      return isGranted ? [] : [`${resourceAttributes.verb} ${resourceAttributes.resource}`];
    }),
  );
  const missing = answers.flat();
  if (missing.length > 0) throw new Error(`user ${user} cannot ${missing.join(', ')} in Namespace "${namespace}"`);
}
