import { keyOf } from '../../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { formatSpan } from '../age.ts';
import { credentialsIn } from '../secrets.ts';
import { formatName, type OnOpenStack } from '../target.ts';
import type { Finding } from './finding.ts';
import type { Installation } from './installation.ts';
import { patienceMs } from './slots.ts';

/** Objects on OpenStack: their functions are installed, and their namespace has credentials. */
export function openStack(installation: Installation): Finding[] {
  const { onOpenStack, hasOpenStack, workloads } = installation;
  if (onOpenStack.length === 0) return [];
  if (hasOpenStack) return [...accounts(installation), ...unseen(installation)];
  const found = `${formatCount(onOpenStack.length)} of kupenstack.io, and none of them`;
  // A local cluster has no objects for functions, and no overlay.
  const remedy =
    workloads.length === 0
      ? 'none here: npm start runs no functions for OpenStack; install them on a cluster that reaches one'
      : 'ot-functions upgrade --overlay deploy/production/serving-openstack (or deployments-openstack)';
  return [{ name: 'Machines on OpenStack', expected: 'the functions that look after them', found, remedy }];
}

function accounts({ onOpenStack, accountSecrets }: Installation): Finding[] {
  const shared = accountSecrets.get(keyOf(credentialsIn(operatorNamespace)));
  const namespaces = Map.groupBy(onOpenStack, ({ metadata }) => metadata.namespace ?? '');
  return [...namespaces].flatMap(([namespace, objects]): Finding[] => {
    const ref = credentialsIn(namespace);
    const own = accountSecrets.get(keyOf(ref));
    if (own || shared) return [];
    const name = `Secret ${keyOf(ref)}`;
    const expected = `it, or one in ${operatorNamespace}`;
    if (own === undefined || shared === undefined) {
      const remedy = `kubectl auth can-i get secrets -n ${own === undefined ? namespace : operatorNamespace}`;
      return [{ name, expected, found: 'no permission to look', remedy }];
    }
    const found = `none: OpenStack has nothing for ${formatCount(objects.length)}`;
    const remedy = `kubectl create secret generic ${ref.name} -n ${namespace} --from-file=clouds.yaml=FILE`;
    return [{ name, expected, found, remedy }];
  });
}

const unseen = ({ onOpenStack, nowMs }: Installation): Finding[] =>
  onOpenStack.flatMap((target): Finding[] => {
    const { metadata, status } = target;
    const ageMs = nowMs - Date.parse(metadata.creationTimestamp);
    if (status?.phase !== undefined || metadata.deletionTimestamp || ageMs <= patienceMs) return [];
    const remedy = `kubectl logs -n ${operatorNamespace} -l app.kubernetes.io/name=${functionOf[target.kind] ?? ''} --tail 50`;
    return [{ name: formatName(target), expected: 'a phase', found: `none after ${formatSpan(ageMs)}`, remedy }];
  });

const functionOf: Readonly<Record<string, string>> = {
  VirtualMachine: 'provision-server',
  VirtualNetwork: 'provision-network',
  Volume: 'provision-volume',
} satisfies Record<OnOpenStack['kind'], string>;

const formatCount = (count: number) => (count === 1 ? '1 object' : `${count} objects`);
