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
const [policy, binding, ...others] = admissionPolicyManifests(await loadFunctions());
const { spec } = policy as unknown as Policy;

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
  test('is the only one, is in force, and is about it and nobody else', () => {
    expect([others, binding]).toMatchObject([
      [],
      { spec: { policyName: policy?.metadata?.name, validationActions: ['Deny'] } },
    ]);
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
