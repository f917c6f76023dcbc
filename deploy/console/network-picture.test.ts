import { expect, test } from 'vitest';
import { pictureOf } from './network-picture.ts';
import type { WorkspaceRow } from './view.ts';

const on = (...networks: string[]) => networks.map((network) => ({ network, address: '' }));
const component = (kind: string, name: string, phase: string) => ({ kind, name, phase, reason: '', message: '' });
const row = {
  name: 'course',
  networks: [
    { name: 'campus', cidr: '10.10.0.0/24' },
    { name: 'dmz', cidr: '10.20.0.0/24' },
  ],
  members: [
    { kind: 'VirtualMachine', name: 'web', interfaces: on('campus', 'dmz') },
    { kind: 'ContainerCluster', name: 'web', interfaces: on('dmz', 'of-another-workspace') },
  ],
  components: [component('VirtualMachine', 'web', 'Failed'), component('Network', 'dmz', 'Ready')],
} as unknown as WorkspaceRow;

test('each network is a line and each member a row; a member joins the lines of its networks, and no other', () => {
  const { networks, members } = pictureOf(row);
  const [campus, dmz] = networks;
  expect(members.map(({ joints }) => joints.map(({ x }) => x))).toEqual([[campus?.x, dmz?.x], [dmz?.x]]);
  expect(campus?.x).toBeLessThan(dmz?.x ?? 0);
  expect(new Set(members.map(({ y }) => y)).size).toBe(2);
});

test('a state is that of the component of that kind and name, and Waiting where there is none yet', () => {
  const { networks, members } = pictureOf(row);
  expect(networks.map(({ phase }) => phase)).toEqual(['Waiting', 'Ready']);
  expect(members.map(({ phase }) => phase)).toEqual(['Failed', 'Waiting']);
});

test('nothing is outside, and no label of a network is crossed by the line of another', () => {
  const { width, height, networks, members } = pictureOf(row);
  for (const { x, y } of [...networks, ...members]) {
    expect(x).toBeLessThan(width);
    expect(y).toBeLessThan(height);
  }
  const [campus, dmz] = networks;
  expect(dmz?.y).toBeGreaterThan(campus?.y ?? 0);
});

test('there is room for the longest name', () => {
  const name = 'a-machine-whose-name-is-as-long-as-a-name-may-be-which-is-63-abc';
  const members = [{ kind: 'VirtualMachine' as const, name, interfaces: [] }];
  const { width } = pictureOf({ ...row, members });
  expect(width).toBeGreaterThan(name.length * 7);
});

test('with many networks it is still no wider than a phone', () => {
  const networks = Array.from({ length: 20 }, (_, index) => ({ name: `net-${index}`, cidr: '10.0.0.0/24' }));
  expect(pictureOf({ ...row, networks, members: [] }).width).toBeLessThan(390);
});
