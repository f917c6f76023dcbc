import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { policyOf as judged } from '../test/proofs/invariants/plain-policy.ts';
import { grantFault } from './images/queue.ts';
import { ConfigMap } from './kinds/core/config-map.ts';
import { describeFault, parsePolicy, policyKeys } from './policy.ts';

const policyOf = (data: Record<string, string>) => parsePolicy(ConfigMap.parse({ metadata: { name: 'p' }, data }));

test('without its keys no roles are run, and the control network is control-net', () => {
  expect(parsePolicy(undefined).values).toMatchObject({
    ansible: 'Run',
    ansibleRunnerImage: undefined,
    ansibleRolesConfigMap: undefined,
    ansibleControlNetwork: 'control-net',
    ansibleUser: undefined,
    ansibleCredentials: false,
    ansibleTimeout: 3_600_000,
  });
});

test.each([
  ['ansible', 'External', 'External'],
  ['ansibleRunnerImage', 'registry.example:5000/a/ansible-runner@sha256:0ab', undefined],
  [
    'ansibleRunnerImage',
    ' ghcr.io/ansible/community-ansible-dev-tools:v25 ',
    'ghcr.io/ansible/community-ansible-dev-tools:v25',
  ],
  ['ansibleRolesConfigMap', 'site-roles', undefined],
  ['ansibleControlNetwork', 'mgmt', undefined],
  ['ansibleUser', 'ops', undefined],
  ['ansibleUser', 'DOMAIN\\ops', undefined],
  ['ansibleCredentials', 'true', true],
  ['ansibleTimeout', '90s', 90_000],
] as const)('%s: %s', (key, text, value) => {
  const { values, faults } = policyOf({ [key]: text });
  expect([values[key], faults]).toEqual([value ?? text, []]);
});

test.each([
  ['ansible', 'external', 'ansible: expected Run, External, found "external"'],
  ['ansibleRunnerImage', 'an image', /^ansibleRunnerImage: expected an image of ansible-runner .*, found "an image"$/],
  [
    'ansibleRolesConfigMap',
    'Site Roles',
    'ansibleRolesConfigMap: expected the name of a ConfigMap, found "Site Roles"',
  ],
  ['ansibleControlNetwork', '', 'ansibleControlNetwork: expected the name of a network of workspaces, found ""'],
  ['ansibleUser', 'a b', 'ansibleUser: expected a login such as ops, found "a b"'],
  ['ansibleCredentials', 'site-key', 'ansibleCredentials: expected true or false, found "site-key"'],
  [
    'imageNamespaces',
    'vmdi-farm Bad_NS!!',
    'imageNamespaces: expected names of namespaces, one a line, found "vmdi-farm Bad_NS!!"',
  ],
  ['machineNetworks', 'a.b', 'machineNetworks: expected names of namespaces, one a line, found "a.b"'],
  ['ansibleTimeout', 'soon', /^ansibleTimeout: expected a duration such as .*, found "soon"$/],
] as const)('%s: %j is refused', (key, text, expected) => {
  const { faults } = policyOf({ [key]: text });
  expect(faults.map(describeFault)).toEqual([
    typeof expected === 'string' ? expected : expect.stringMatching(expected),
  ]);
});

describe.each(policyKeys)('%s', (key) => {
  const data = { [key]: '' };
  test('is explained in the list of all keys', async () =>
    expect(await readFile('deploy/production/README.md', 'utf8')).toContain(`\`${key}\``));
  test('is known to the second parser, by which the invariants judge', () =>
    expect(judged({ data }).faults).toEqual([key]));
  test('is in the runbook if no slot is given while it does not parse', async () => {
    const runbook = await readFile('deploy/monitoring/runbooks/OtPolicyInvalid.md', 'utf8');
    expect(runbook.includes(`\`${key}\``)).toBe(grantFault(parsePolicy({ data })) !== undefined);
  });
});
