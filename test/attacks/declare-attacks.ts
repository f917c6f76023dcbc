import { describe, test } from 'vitest';
import { applyManifests } from '../../deploy/manifests.ts';
import { roleManifests } from '../../deploy/production/roles.ts';
import { admissionPolicyManifests } from '../../knative/admission-policies.ts';
import { loadAllFunctions } from '../../knative/functions.ts';
import { permissionManifests } from '../../knative/permissions.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { ClusterRole } from '../../shared/kinds/rbac/cluster-role.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { allow, bind, ClusterRoleBinding, ServiceAccount } from '../support/builders/access.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import type { Attack, Target } from './attack.ts';
import { mayMakeWorkspaces } from './attacker.ts';
import { attacks as largeObjects } from './large-objects.ts';
import { attacks as podsOfTheOperator } from './pods-of-the-operator.ts';
import { author, authorOfLabs, attacks as rightsOfAuthors } from './rights-of-authors.ts';
import { bait, attacks as stolenFunctions } from './stolen-functions.ts';

/** By what they are about. */
const allAttacks: Readonly<Record<string, readonly Attack[]>> = {
  'rights of authors': rightsOfAuthors,
  'large objects': largeObjects,
  'stolen functions': stolenFunctions,
  "the operator's Pods": podsOfTheOperator,
};

const tenants = ['tenant-a', 'tenant-b', 'ws-victim'];
/** What stolen functions made that is in no namespace of these. */
const alsoMade = ['ws-of-compose-workspace'];
const systemSecret = { name: 'bait', namespace: 'kube-system' };
const labs = { name: 'attacks-workspace-authors' };

/** Makes attackers and victims on a cluster that has our definitions, with the roles of users and the rights of all functions. */
export async function prepareAttacks(kube: Kube): Promise<void> {
  const functions = await loadAllFunctions();
  const rights = [...permissionManifests(functions), ...admissionPolicyManifests(functions)];
  await applyManifests(kube, [...rights, ...roleManifests()] as unknown as KubernetesObject[]);
  for (const name of tenants) await kube.create(Namespace, { metadata: { name } });
  for (const account of [author, authorOfLabs]) await kube.create(ServiceAccount, { metadata: account });
  for (const role of ['view', 'edit'])
    await bind(
      kube,
      author,
      { name: role, namespace: author.namespace },
      { kind: 'ClusterRole', name: `ot-functions-${role}` },
    );
  await allow(kube, authorOfLabs, labs, [mayMakeWorkspaces]);
  for (const metadata of [systemSecret, { name: 'openstack-credentials', namespace: 'tenant-b' }])
    await kube.create(Secret, { metadata });
  await kube.create(VMDiskImage, { metadata: bait, spec: aVMDiskImage().spec });
  const resources = { cpu: '1', memory: '1Gi' };
  await kube.create(VirtualMachine, { metadata: bait, spec: { resources, vmDiskImageRef: bait } });
}

export function declareAttacks(targetOf: () => Target, { isReal = false } = {}): void {
  for (const [group, attacks] of Object.entries(allAttacks))
    describe(group, () => {
      for (const { name, gains, realOnly, run } of attacks) {
        if (realOnly && !isReal) console.warn(`skipped: "${name}": ${realOnly}`);
        test.skipIf(realOnly !== undefined && !isReal)(`${name} (gained: ${gains})`, () => run(targetOf()));
      }
    });
}

/** Deletes what attacks left. */
export async function clearUpAttacks(kube: Kube): Promise<void> {
  for (const name of [...tenants, ...alsoMade]) await kube.delete(Namespace, { name });
  await kube.delete(Secret, systemSecret);
  await kube.delete(Lease, { name: 'bait', namespace: operatorNamespace });
  for (const kind of [ClusterRole, ClusterRoleBinding]) await kube.delete(kind, labs);
}
