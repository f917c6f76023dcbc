import { evaluate } from '@marcbachmann/cel-js';
import { describe, expect, test } from 'vitest';
import { admissionPolicyManifests } from './admission-policies.ts';
import { loadFunctions } from './functions.ts';

interface Policy {
  spec: {
    matchConditions: { expression: string }[];
    matchConstraints: { resourceRules: { resources: string[] }[] };
    validations: { expression: string }[];
  };
}
const functions = await loadFunctions();
const policiesOf = (name: string) => admissionPolicyManifests(functions.filter((one) => one.name === name));
const [policy, binding] = policiesOf('compose-workspace');
const { spec } = policy as unknown as Policy;
const ofSecrets = (policiesOf('provision-vm')[0] as unknown as Policy).spec;

const holds = (expressions: readonly { expression: string }[], variables: object) =>
  expressions.every(({ expression }) => evaluate(expression, variables as Record<string, unknown>) === true);

/** Whether the policy admits a write. */
const lets = (resource: string, { name = 'x', namespace = '', operation = 'CREATE', object = {} }) =>
  holds(spec.validations, { request: { resource: { resource }, name, namespace, operation }, object });

const binds = (more: object = {}) => ({
  roleRef: { kind: 'ClusterRole', name: 'sync-operator-compose-workspace-in-workspace' },
  subjects: [{ kind: 'ServiceAccount', name: 'compose-workspace', namespace: 'sync-operator' }],
  ...more,
});

describe('the admission policy of compose-workspace', () => {
  test('is in force, and is about it and no other account', () => {
    expect(binding).toMatchObject({ spec: { policyName: policy?.metadata?.name, validationActions: ['Deny'] } });
    const isMeant = (username: string) => holds(spec.matchConditions, { request: { userInfo: { username } } });
    expect(isMeant('system:serviceaccount:sync-operator:compose-workspace')).toBe(true);
    expect(isMeant('system:serviceaccount:sync-operator:provision-vm')).toBe(false);
  });
  test('is about all that it may write outside of what a workspace has', () => {
    expect(spec.matchConstraints.resourceRules.flatMap(({ resources }) => resources).sort()).toEqual([
      'namespaces',
      'rolebindings',
      'subnets',
      'vpcs',
    ]);
  });
  test.each(['namespaces', 'vpcs', 'subnets'])('lets it write %s of workspaces only', (resource) => {
    for (const operation of ['CREATE', 'UPDATE', 'DELETE']) {
      expect(lets(resource, { name: 'ws-lab', operation })).toBe(true);
      expect(lets(resource, { name: 'kube-system', namespace: 'ws-lab', operation })).toBe(false);
    }
    expect(lets(resource, { name: '' })).toBe(false);
  });
  test.each([
    ['in a workspace', { namespace: 'ws-lab', object: binds() }, true],
    ['elsewhere', { namespace: 'kube-system', name: 'ws-lab', object: binds() }, false],
    ['to another', { namespace: 'ws-lab', object: binds({ subjects: [{ kind: 'User', name: 'eve' }] }) }, false],
    [
      'to one of its name elsewhere',
      {
        namespace: 'ws-lab',
        object: binds({ subjects: [{ kind: 'ServiceAccount', name: 'compose-workspace', namespace: 'ws-lab' }] }),
      },
      false,
    ],
    [
      'to another beside it',
      { namespace: 'ws-lab', object: binds({ subjects: [...binds().subjects, { kind: 'Group', name: 'all' }] }) },
      false,
    ],
    [
      'of another right',
      { namespace: 'ws-lab', object: binds({ roleRef: { kind: 'ClusterRole', name: 'cluster-admin' } }) },
      false,
    ],
    ['of a Role', { namespace: 'ws-lab', object: binds({ roleRef: { ...binds().roleRef, kind: 'Role' } }) }, false],
  ])('lets it bind its own right to itself: %s', (_, write, expected) => {
    expect(lets('rolebindings', write)).toBe(expected);
    expect(lets('rolebindings', { ...write, operation: 'UPDATE' })).toBe(expected);
  });
  test('lets it take a RoleBinding of a workspace away', () => {
    expect(lets('rolebindings', { namespace: 'ws-lab', operation: 'DELETE' })).toBe(true);
  });
});

describe('the admission policy of provision-vm', () => {
  test('is in force, and is about it and its writes of Secrets', () => {
    const [policy, inForce] = policiesOf('provision-vm');
    expect(inForce).toMatchObject({ spec: { policyName: policy?.metadata?.name, validationActions: ['Deny'] } });
    expect(ofSecrets).toMatchObject({
      failurePolicy: 'Fail',
      matchConditions: [{ expression: expect.stringContaining("'system:serviceaccount:sync-operator:provision-vm'") }],
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], operations: ['CREATE', 'UPDATE'], resources: ['secrets'] }],
      },
    });
  });

  const owner = { apiVersion: 'pelotech.ot/v1alpha1', kind: 'VirtualMachine', name: 'vm' };
  const aSecret = (one: object = owner, name = 'vm-cloud-init', type = 'Opaque') => ({
    type,
    metadata: { name, ownerReferences: [one] },
  });
  test.each([
    ['the Secret of a machine', aSecret(), true],
    ['under another name', aSecret(owner, 'tls'), false],
    ['of another machine', aSecret(owner, 'other-cloud-init'), false],
    ['of KubeVirt’s machine', aSecret({ ...owner, apiVersion: 'kubevirt.io/v1' }), false],
    ['of another kind', aSecret({ ...owner, kind: 'Workspace' }), false],
    ['without an owner', { type: 'Opaque', metadata: { name: 'vm-cloud-init' } }, false],
    ['a token of a ServiceAccount', aSecret(owner, 'vm-cloud-init', 'kubernetes.io/service-account-token'), false],
  ])('lets it write %s', (_, object, expected) => {
    const admits = (operation: string, oldObject: object | null, written: object = object) =>
      holds(ofSecrets.validations, { request: { operation }, object: written, oldObject });
    expect(admits('CREATE', null)).toBe(expected);
    expect(admits('UPDATE', object, aSecret())).toBe(expected);
    expect(admits('UPDATE', aSecret())).toBe(expected);
  });
});

describe('the admission policy of a function that adds and removes finalizers', () => {
  test.each([
    ['count-refs', 'virtualmachines'],
    ['prune', 'vmdiskimages'],
    ['start-sync', 'vmdiskimages'],
  ])('lets %s change no spec of %s', (name, plural) => {
    const [policy, inForce] = policiesOf(name);
    expect(inForce).toMatchObject({ spec: { policyName: policy?.metadata?.name, validationActions: ['Deny'] } });
    expect(policy).toMatchObject({
      spec: { matchConstraints: { resourceRules: [{ operations: ['UPDATE'], resources: [plural] }] } },
    });
    const lets = (spec: object) =>
      holds((policy as unknown as Policy).spec.validations, { object: { spec }, oldObject: { spec: { url: 'a' } } });
    expect(lets({ url: 'a' })).toBe(true);
    expect(lets({ url: 'b' })).toBe(false);
  });
  test('is that of no other', () => {
    const limited = functions.filter(({ name }) => policiesOf(name).length > 0).map(({ name }) => name);
    expect(limited).toEqual(['compose-workspace', 'count-refs', 'provision-vm', 'prune', 'start-sync']);
  });
});
