import { describe, expect, test } from 'vitest';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { aVMDiskImage, start } from '../../support/builders/images.ts';
import { aVirtualMachine } from '../../support/builders/machines.ts';
import { aHistory, aPolicy, by, download } from './a-history.ts';
import { check } from './check.ts';
import type { Asked } from './history.ts';
import { s19Tenancy } from './s19-tenancy.ts';

const url = 'https://s3.example/images/ubuntu.qcow2';
const labels = { 'app.kubernetes.io/created-by': 'ensure-vmdi' };
const image = aVMDiskImage({ labels, spec: { url } });
const faults = (policy: Record<string, string>, ...written: Parameters<typeof aHistory>[0]) =>
  check(aHistory([by('user', aPolicy(policy)), ...written]), [s19Tenancy]).map(({ message }) => message);

describe('an image of a template, and its download,', () => {
  const fetching: DataVolume = { ...download(image), spec: { source: { s3: { url, secretRef: 's3-reader' } } } };
  const asked = [by('ensure-vmdi', image, { since: 101 }), by('start-sync', fetching, { since: 102 })];

  test.each([
    [
      'by a line with its Secret',
      { allowedSources: 'https://other.example/**\nhttps://s3.example/images/** s3-reader' },
    ],
    ['by the template of the policy', { imageUrlTemplate: 'https://s3.example/{name}', imageSecretRef: 's3-reader' }],
  ])('are allowed %s', (_, policy) => {
    expect(faults(policy, ...asked)).toEqual([]);
  });

  test.each([
    ['no line', {}],
    ['a line of another source', { allowedSources: 'https://s3.example/private/** s3-reader' }],
    ['a line of another Secret', { allowedSources: 'https://s3.example/images/** another' }],
  ])('are reported with %s', (_, policy) => {
    expect(faults(policy, ...asked)).toEqual([
      `vmdi-farm/ubuntu is of ${url}, which the policy does not allow`,
      expect.stringContaining('which the policy does not allow'),
    ]);
  });

  test('outside image namespaces may have any Secret of their own', () => {
    const policy = { allowedSources: 'https://s3.example/images/**' };
    const theirs = aVMDiskImage({ labels, namespace: 'lab', spec: { url } });
    expect(faults(policy, by('ensure-vmdi', theirs, { since: 101 }))).toEqual([]);
  });
});

test('an image that no template asked for needs no line', () => {
  expect(faults({}, by('user', aVMDiskImage({ spec: { url } })))).toEqual([]);
});

test('a root disk is a clone of its own namespace, or of an image namespace', () => {
  const clone = (namespace: string) =>
    by(
      'provision-vm',
      DataVolume.parse({
        metadata: { name: 'web-root', namespace: 'lab', uid: `uid-${namespace}` },
        spec: { source: { snapshot: { namespace, name: 'ubuntu-r1' } } },
      }),
      { since: 101 },
    );
  expect(faults({ imageNamespaces: 'vmdi-farm' }, clone('vmdi-farm'), clone('lab'), clone('tenant'))).toEqual([
    'lab/web-root was cloned from namespace tenant, which is not in imageNamespaces',
  ]);
});

test('a Secret is read where an image or a machine of its namespace names it', () => {
  const get = (of: string): Asked => ({ verb: 'get', kind: 'Secret', of, objects: 1 });
  const machine = aVirtualMachine({
    spec: { users: [{ name: 'admin', passwordSecretRef: { name: 'login', key: 'password' } }] },
  });
  const { namespace, name } = machine.metadata;
  const reads = [`${namespace}/login`, `${namespace}/${name}-cloud-init`, 'vmdi-farm/s3-reader', 'vmdi-farm/login'];
  const reconcile = { since: 101, atMs: start, about: [], isTimed: false, mostInFlight: 1, mostWritesBegun: 1 };
  const reconciles = [{ ...reconcile, by: 'provision-vm', asked: reads.map(get) }];
  expect(
    check(aHistory([by('user', image), by('user', machine)], { reconciles }), [s19Tenancy]).map(
      ({ message }) => message,
    ),
  ).toEqual(['provision-vm read Secret vmdi-farm/login, which no image or machine there names']);
});
