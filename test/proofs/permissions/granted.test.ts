import { expect, test } from 'vitest';
import { documents, generatedFolders, readManifests } from '../../../deploy/manifests.ts';
import { describeRule, grantedRules, inWords, type Rule, without } from './granted.ts';

const manifests = documents(`
kind: ClusterRole
metadata: { name: sync-operator-paint }
rules:
  - { apiGroups: [demo.example.com], resources: [widgets, widgets/status], verbs: [get, patch] }
---
kind: ClusterRoleBinding
metadata: { name: sync-operator-paint }
roleRef: { kind: ClusterRole, name: sync-operator-paint }
subjects: [{ kind: ServiceAccount, name: paint, namespace: sync-operator }]
---
kind: Role
metadata: { name: paint, namespace: sync-operator }
rules:
  - { apiGroups: [''], resources: [configmaps], verbs: [get] }
  - { apiGroups: [''], resources: [configmaps], verbs: [get] }
---
kind: RoleBinding
metadata: { name: paint, namespace: sync-operator }
roleRef: { kind: Role, name: paint }
subjects: [{ kind: ServiceAccount, name: paint, namespace: sync-operator }]
`);

test('each verb on each resource is a rule of its own, once', () => {
  expect(grantedRules(manifests).map((rule) => `${inWords(rule)} ${rule.namespace ?? 'everywhere'}`)).toEqual([
    'paint get widgets.demo.example.com everywhere',
    'paint patch widgets.demo.example.com everywhere',
    'paint get widgets.demo.example.com/status everywhere',
    'paint patch widgets.demo.example.com/status everywhere',
    'paint get configmaps sync-operator',
  ]);
});

test('a binding to a role that is not there is no grant of nothing, but a fault', () => {
  expect(() => grantedRules(manifests.slice(1))).toThrow('expected the ClusterRole sync-operator-paint of a binding');
});

test('a role without one rule keeps all the others', () => {
  const rules = [{ apiGroups: ['g'], resources: ['a', 'a/status'], verbs: ['get', 'patch'] }];
  const taken = { account: 'x', group: 'g', resource: 'a', verb: 'patch', namespace: undefined };
  expect(without(rules, taken).map(({ resources, verbs }) => `${verbs} ${resources}`)).toEqual([
    'get a',
    'get a/status',
    'patch a/status',
  ]);
});

test('what a function binds itself in workspaces is granted, and names of objects stay with a rule', () => {
  const found = grantedRules(
    documents(`
kind: ServiceAccount
metadata: { name: paint, namespace: sync-operator }
---
kind: ClusterRole
metadata: { name: sync-operator-paint-in-workspace }
rules:
  - { apiGroups: [''], resources: [secrets], resourceNames: [brush], verbs: [get] }
  - { apiGroups: [''], resources: [secrets], verbs: [create] }
`),
  );
  expect(found.map(describeRule)).toEqual([
    'paint get secrets named brush in workspaces',
    'paint create secrets in workspaces',
  ]);
  const rules = [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['brush'], verbs: ['get', 'update'] }];
  expect(without(rules, found[0] as Rule)).toEqual([{ ...rules[0], verbs: ['update'] }]);
});

test('no ServiceAccount of the operator is granted any verb, resource or group by a wildcard', async () => {
  const granted = grantedRules(await readManifests(...generatedFolders));
  expect(granted.length).toBeGreaterThan(0);
  expect(granted.map(inWords).filter((words) => words.includes('*'))).toEqual([]);
});
