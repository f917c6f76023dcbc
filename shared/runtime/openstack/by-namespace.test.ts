import { expect, test } from 'vitest';
import { aVolume } from '../../../test/support/builders/openstack.ts';
import type { Context } from '../../function.ts';
import { noEvents } from '../../function.ts';
import { Volume } from '../../kinds/kupenstack/volume.ts';
import { auditOf, openOrNamed } from './by-namespace.ts';

/** A cluster with these volumes, in pages, that answers no list. */
const inPages = (...pages: readonly Volume[][]) =>
  ({
    async *pages() {
      for (const items of pages) yield { items, resourceVersion: '1' };
    },
    get: async (_: unknown, { name }: { name: string }) => pages.flat().find(({ metadata }) => metadata.name === name),
  }) as unknown as Context['kube'];

const named = (namespace: string, ...names: readonly string[]) => names.map((name) => aVolume({ namespace, name }));

test('an audit names all objects page by page, but a namespace in one part', async () => {
  const kube = inPages([...named('blue', 'a'), ...named('green', 'b'), ...named('red', 'c')], named('red', 'd', 'e'), [
    ...named('red', 'f'),
    ...named('white', 'g'),
  ]);
  const parts = await Array.fromAsync(auditOf(Volume)({ kube }));
  expect(parts.map((part) => part.map(({ namespace, name }) => `${namespace}/${name}`))).toEqual([
    ['blue/a', 'green/b'],
    [],
    ['red/c', 'red/d', 'red/e', 'red/f'],
    ['white/g'],
  ]);
});

test('an audit of none names none', async () => {
  expect(await Array.fromAsync(auditOf(Volume)({ kube: inPages([]) }))).toEqual([[], []]);
});

test('a sweep looks at those that are not Ready, page by page, and at an audit only those that it names are read', async () => {
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'Available',
    message: '',
    lastTransitionTime: '',
  } as const;
  const ready = (name: string) => aVolume({ name, status: { observedGeneration: 1, conditions: [condition] } });
  const kube = inPages([ready('a'), aVolume({ name: 'b' })], [aVolume({ name: 'c' }), ready('d')]);
  const namesAt = async (batch: object) =>
    (await openOrNamed(kube, { ...noEvents, ...batch }, Volume)).map(({ metadata }) => metadata.name);
  expect(await namesAt({ sweep: true })).toEqual(['b', 'c']);
  const { apiVersion, kind } = Volume;
  expect(await namesAt({ audit: true, audited: [{ apiVersion, kind, namespace: 'lab', name: 'd' }] })).toEqual(['d']);
});
