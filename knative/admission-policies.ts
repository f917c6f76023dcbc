import { cloudInitName } from '../functions/provision-vm/children.ts';
import type { FunctionDeclaration, Permission } from '../shared/function.ts';
import { VirtualMachine } from '../shared/kinds/pelotech/virtual-machine.ts';
import { RoleBinding } from '../shared/kinds/rbac/role-binding.ts';
import { inWorkspaceRole, operatorNamespace, partOf } from '../shared/operator.ts';
import { workspacePrefix } from '../shared/workspaces/workspace.ts';
import { groupOf, type Manifest } from './manifest.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';

/**
 * What RBAC cannot say: a function that makes Namespaces, and binds its own rights in them, does so with the names of workspaces only; a
 * function that writes Secrets everywhere writes cloud-init Secrets of machines only; and a function that adds and removes finalizers
 * changes no spec. One policy for each function that has such rights, with the binding that puts it into force.
 */
export const admissionPolicyManifests = (functions: readonly FunctionDeclaration[]): Manifest[] =>
  functions.flatMap(({ name, may }) =>
    Object.entries(policyKinds).flatMap(([kind, { operations, validationsOf }]) => {
      const restricted = may.filter(({ admissionPolicy }) => admissionPolicy === kind);
      return restricted.length > 0
        ? policyAndBinding(name, rulesOf(restricted, operations), validationsOf(name, restricted))
        : [];
    }),
  );

interface Validation {
  expression: string;
  message: string;
}

interface PolicyKind {
  operations: readonly string[];
  validationsOf: (name: string, permissions: readonly Permission[]) => Validation[];
}

const policyKinds: Record<NonNullable<Permission['admissionPolicy']>, PolicyKind> = {
  workspace: {
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    validationsOf: (name, permissions) => [
      {
        expression: `${placeOf(permissions)}.startsWith('${workspacePrefix}')`,
        message: `${name}: expected the name of a workspace's object, ${workspacePrefix}…, found another`,
      },
      ...(permissions.some(({ resource }) => resource === RoleBinding) ? [ownRightOnly(name)] : []),
    ],
  },
  cloudInit: {
    operations: ['CREATE', 'UPDATE'],
    validationsOf: (name) => [
      {
        // A Secret of another type may be a token that Kubernetes makes for any ServiceAccount.
        expression: `${isOfMachine('object')} && (request.operation != 'UPDATE' || ${isOfMachine('oldObject')})`,
        message: `${name}: expected an Opaque Secret ${cloudInitName('NAME')} of VirtualMachine NAME, found another`,
      },
    ],
  },
  metadata: {
    operations: ['UPDATE'],
    validationsOf: (name) => [
      { expression: 'object.spec == oldObject.spec', message: `${name}: expected the spec as it was, found a change` },
    ],
  },
};

const isOfMachine = (object: string) =>
  `(${object}.type == 'Opaque' && has(${object}.metadata.ownerReferences) && ${object}.metadata.ownerReferences.exists(one, one.apiVersion == '${VirtualMachine.apiVersion}' && one.kind == '${VirtualMachine.kind}' && ${object}.metadata.name == one.name + '${cloudInitName('')}'))`;

function policyAndBinding(name: string, resourceRules: object[], validations: readonly Validation[]): Manifest[] {
  const metadata = { name: `${operatorNamespace}-${name}`, labels: partOf };
  const policy = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules },
      matchConditions: [
        {
          name: 'who',
          expression: `request.userInfo.username == 'system:serviceaccount:${operatorNamespace}:${name}'`,
        },
      ],
      validations,
    },
  };
  const binding = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: metadata.name, validationActions: ['Deny'] },
  };
  return [policy, binding];
}

/** It gives no one else a right, and itself no other than the one it declares. */
const ownRightOnly = (name: string) => ({
  expression: [
    "request.resource.resource != 'rolebindings' || request.operation == 'DELETE'",
    [
      `object.roleRef.kind == 'ClusterRole' && object.roleRef.name == '${inWorkspaceRole(name)}'`,
      `has(object.subjects) && object.subjects.all(one, one.kind == 'ServiceAccount' && one.name == '${name}' && has(one.namespace) && one.namespace == '${operatorNamespace}')`,
    ].join(' && '),
  ].join(' || '),
  message: `${name}: expected a RoleBinding of ${inWorkspaceRole(name)} to itself, found another`,
});

const rulesOf = (permissions: readonly Permission[], operations: readonly string[]) =>
  permissions.map(({ resource }) => ({
    apiGroups: [groupOf(resource.apiVersion)],
    apiVersions: [resource.apiVersion.split('/').at(-1)],
    operations,
    resources: [resource.plural],
  }));

/** The name of what is in no Namespace, the Namespace of what is in one. */
function placeOf(permissions: readonly Permission[]): string {
  const plurals = permissions
    .filter(({ resource }) => !resource.namespaced)
    .map(({ resource }) => `'${resource.plural}'`);
  return `(request.resource.resource in [${plurals.join(', ')}] ? request.name : request.namespace)`;
}
