import { expect, test } from 'vitest';
import type { Observation, Write } from './cluster.ts';
import { judged } from './judges.ts';
import { Texts } from './yaml-faults.ts';

const nothing: Observation = { writes: [], logs: [], answers: [], crashes: [], longestBlockMs: 0, longestDecideMs: {} };
const secrets = [{ namespace: 'victim', value: 'canary-1' }];
const texts = new Texts();
texts.add({ vms: [{ name: 'router', users: [{ gecos: 'a\nb: c' }] }] });

const foundBy = (seen: Partial<Observation>) =>
  judged({ ...nothing, ...seen }, { own: { prefix: 'tenant' }, secrets, texts }).map(({ judge }) => judge);

const write = (more: Partial<Write> & { content?: object }): Observation['writes'] => {
  const { content, ...rest } = more;
  const metadata = {
    name: 'a',
    namespace: 'tenant-1x',
    uid: '',
    resourceVersion: '',
    generation: 1,
    creationTimestamp: '',
  };
  const object = { apiVersion: 'v1', kind: 'Some', metadata, ...content };
  const by = { by: 'provision-vm', isFunction: true, operation: 'CREATE', subresource: '' } as const;
  return [{ ...by, resource: 'events', namespace: 'tenant-1x', name: 'a', object, oldObject: undefined, ...rest }];
};
const cloudInit = (text: string, key = 'userdata') =>
  write({ resource: 'secrets', content: { data: { [key]: Buffer.from(text).toString('base64') } } });
const nicCalled = (name: string) =>
  cloudInit(`version: 2\nethernets: {a: {set-name: ${JSON.stringify(name)}, dhcp4: true}}\n`, 'networkdata');
const image = (url: string, secretRef = 's3-reader') =>
  write({
    by: 'ensure-vmdi',
    resource: 'vmdiskimages.pelotech.ot',
    namespace: 'vmdi-farm',
    content: { spec: { url, secretRef } },
  });
const labKey = `ssh-ed25519 ${Buffer.alloc(51, 1).toString('base64')}`;
const log = (level: string, message: string) => JSON.stringify({ level, function: 'prune', message });

test.each<[string, Partial<Observation>]>([
  ['crash', { crashes: ['Error: x'] }],
  ['crash', { answers: [{ name: 'prune', status: 500, body: '' }] }],
  ['crash', { logs: [log('error', "TypeError: Cannot read properties of undefined (reading 'a')")] }],
  ['crash', { logs: [log('error', 'Error: something that no one expected')] }],
  ['crash', { writes: write({ content: { message: 'Error: x\n    at decide (file:///a.ts:1:1)' } }) }],
  ['crash', { writes: write({ content: { status: { message: 'RangeError: Invalid time value' } } }) }],
  ['write', { writes: write({ namespace: 'victim' }) }],
  ['write', { writes: write({ namespace: '', resource: 'namespaces', by: 'compose-workspace', name: 'ws-taken' }) }],
  ['write', { writes: image('https://s3.test/private/a') }],
  ['write', { writes: image('https://s3.test/images/..%2Fprivate/a') }],
  ['write', { writes: image('https://open.test/a', 's3-reader') }],
  ['write', { writes: image('https://s3.test.evil/images/a') }],
  ['block', { longestBlockMs: 101 }],
  ['secret', { writes: write({ content: { message: 'it is canary-1' } }) }],
  ['secret', { writes: write({ content: { data: { a: Buffer.from('x canary-1').toString('base64') } } }) }],
  ['secret', { logs: [`it is ${Buffer.from('canary-1').toString('base64')}`] }],
  ['yaml', { writes: cloudInit('hostname: a\nusers: [default, {name: a, gecos: a\nb: c}]\n') }],
  ['yaml', { writes: cloudInit('hostname: a\nruncmd: [id]\n') }],
  ['yaml', { writes: cloudInit('hostname: no\n') }],
  ['yaml', { writes: cloudInit(`users: [{name: a, ssh_authorized_keys: [${labKey}]}]`) }],
  ['yaml', { writes: cloudInit('users: [{name: a, sudo: "ALL=(ALL) NOPASSWD:ALL"}]') }],
  ['yaml', { writes: cloudInit('users: [{name: ansible, ssh_authorized_keys: [ssh-ed25519 AAAA evil]}]') }],
  ['yaml', { writes: nicCalled('a b') }],
  [
    'yaml',
    { writes: write({ resource: 'configmaps', content: { data: { 'hosts.yml': 'all: {hosts: {evil: {}}}' } } }) },
  ],
])('%s: found in %j', (judge, seen) => {
  expect(foundBy(seen)).toEqual([judge]);
});

test('what functions may do and say is nothing', () => {
  expect(
    foundBy({
      writes: [
        ...image('https://s3.test/images/a/b.qcow2'),
        ...write({ namespace: 'ws-tenant-1x-2' }),
        ...write({ namespace: '', resource: 'namespaces', by: 'compose-workspace', name: 'ws-tenant-1x' }),
        ...nicCalled('net-addresses'),
        ...cloudInit('#cloud-config\nhostname: "a"\nusers: ["default", {name: "a", gecos: "a\\nb: c"}]\n'),
        ...cloudInit(
          `users: [{name: ansible, gecos: ansible, sudo: "ALL=(ALL) NOPASSWD:ALL", ssh_authorized_keys: [${labKey}]}]`,
        ),
      ],
      logs: [log('warn', 'refused an event'), log('error', '409 Conflict: the object has been modified')],
      answers: [{ name: 'prune', status: 503, body: '' }],
      longestBlockMs: 100,
    }),
  ).toEqual([]);
});
