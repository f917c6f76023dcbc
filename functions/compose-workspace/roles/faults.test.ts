import { expect, test } from 'vitest';
import { aVm, aWorkspace } from '../../../test/support/builders/roles.ts';
import { isRoleName, isVariableName, roleFaults } from './faults.ts';

const faultsOf = (vm: Parameters<typeof aVm>[0]) => roleFaults(aWorkspace([aVm(vm)]).spec);

test("the seed's own roles have no fault", () => {
  const build = [
    { role: 'specialize' },
    { role: 'linuxRouter', variables: { enable_nat: true, nat_out_iface_idx: 1 } },
  ];
  expect(faultsOf({ build, deploy: [{ role: 'runtimeChecks' }] })).toEqual([]);
});

test('all faults are told at once, where they are', () => {
  const deploy = [{ role: '../secrets' }, { role: 'ok', variables: { 'a-b': 1, class: 2, fine: 3 } }];
  expect(faultsOf({ deploy })).toEqual([
    expect.stringMatching(/^vms demo-vm: ansible\.roles\.deploy\[0\]\.role: expected .*, found "\.\.\/secrets"\.$/),
    expect.stringMatching(/^vms demo-vm: ansible\.roles\.deploy\[1\]\.variables: expected .*, found "a-b"\.$/),
    expect.stringMatching(/deploy\[1\]\.variables: .*, found "class"\.$/),
  ]);
});

const nested = (levels: number) =>
  JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as Record<string, unknown>;

// Deeper ones ended the reconcile with "Maximum call stack size exceeded", from some 2500 levels on.
test('variables are no deeper than 64 levels', () => {
  expect(faultsOf({ deploy: [{ role: 'ok', variables: nested(64) }] })).toEqual([]);
  for (const levels of [65, 9000])
    expect(faultsOf({ deploy: [{ role: 'ok', variables: nested(levels) }] })).toEqual([
      'vms demo-vm: ansible.roles.deploy[0].variables: expected lists and maps of at most 64 levels, found more.',
    ]);
});

test('the variables of all machines together have a limit, and are not looked at beyond', () => {
  const some = (length: number) => ({ role: 'ok', variables: { 'a-b': 'x'.repeat(length - '{"a-b":""}'.length) } });
  const faults = (length: number) =>
    roleFaults(
      aWorkspace([aVm({ build: [some(length)], deploy: [] }), aVm({ name: 'web', deploy: [some(65_536)] })]).spec,
    );
  expect(faults(65_536)).toEqual([expect.stringContaining('found "a-b"'), expect.stringContaining('found "a-b"')]);
  expect(faults(65_537)).toEqual([
    'vms: expected variables of at most 131072 characters as JSON in the roles of all machines together, found 131073.',
  ]);
});

test('build roles are held to the same names', () => {
  expect(faultsOf({ build: [{ role: 'a b' }] })).toHaveLength(1);
});

test('where a machine is reached, which the policy says as well, is no affair of the spec', () => {
  expect(faultsOf({ interfaces: [] })).toEqual([]);
});

test("a machine with deploy roles has no name of Ansible's", () => {
  expect(faultsOf({ name: 'all' })).toEqual([expect.stringContaining('vms all: expected another name')]);
  expect(faultsOf({ name: 'all', deploy: [] })).toEqual([]);
});

test.each(['runtimeChecks', 'linux-router', 'linux_router', '7zip', 'acme.lab.router'])('%s is a role', (name) => {
  expect(isRoleName(name)).toBe(true);
});
test.each(['', '.', '..', 'a/b', '/etc', '-x', 'a b', 'acme.router', '{{ x }}', 'röle', 'a\n', 'x'.repeat(101)])(
  '%j is no role',
  (name) => {
    expect(isRoleName(name)).toBe(false);
  },
);
test.each(['a', '_a', 'enable_nat', 'A1', 'yes', 'true', '__proto__'])('%s is a variable', (name) => {
  expect(isVariableName(name)).toBe(true);
});
test.each(['', '1a', 'a-b', 'a.b', 'a b', 'class', 'None', 'ä', '{{ x }}', 'a\n'])('%j is no variable', (name) => {
  expect(isVariableName(name)).toBe(false);
});
