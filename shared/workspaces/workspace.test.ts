import { expect, test } from 'vitest';
import { subnetName, workspaceIn, workspaceOfSubnet } from './workspace.ts';

test('the Subnets of two workspaces never share a name', () => {
  expect(subnetName('a', 'b-c')).not.toBe(subnetName('a-b', 'c'));
});

test.each([
  ['lab', 'net'],
  ['a-b', 'c-d-e'],
  ['demo-workspace-1', 'bridge-inet'],
])('a Subnet tells whose it is: %s, %s', (workspace, network) => {
  expect(workspaceOfSubnet(subnetName(workspace, network))).toBe(workspace);
});

test('a name that had to be cut fits a label, and reveals no one', () => {
  const name = subnetName('w'.repeat(60), 'n'.repeat(63));
  expect(name.length).toBeLessThanOrEqual(63);
  expect(workspaceOfSubnet(name)).toBeUndefined();
});

test.each([
  ['ws-lab', 'lab'],
  ['ws-', undefined],
  ['lab', undefined],
  [undefined, undefined],
])('the Namespace %s is of workspace %s', (namespace, workspace) => {
  expect(workspaceIn(namespace)).toBe(workspace);
});
