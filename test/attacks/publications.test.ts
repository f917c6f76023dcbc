import { afterAll, beforeAll, expect, test } from 'vitest';
import preload from '../../functions/preload/index.ts';
import { imagePublished } from '../../shared/events.ts';
import { publicationKeysRef, takenForMs } from '../../shared/images/signature.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { policyRef } from '../../shared/policy.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { nextSecond, publicationKey, signed, trustPublicationKey } from '../support/builders/publications.ts';
import { type FunctionHarness, serveFunction } from '../support/harness/function-harness.ts';

let harness: FunctionHarness;
beforeAll(async () => {
  harness = await serveFunction(preload);
});
afterAll(() => harness.close());

const farm = (name: string) => ({ name, namespace: 'vmdi-farm' });
const published = (name: string, object = 'golden') => ({
  name,
  url: `https://s3.eu-west-1.amazonaws.com/images/${object}.qcow2`,
});
const imageOf = (name: string) => harness.kube.get(VMDiskImage, farm(name));

/** What the publisher posts, which anyone on its way may have seen. */
async function publish(name: string, options?: Parameters<typeof signed>[1], object?: string) {
  const data = published(name, object);
  const attributes = { source: 'https://ci.example/42', ...signed(data, options) };
  expect(await harness.message(imagePublished, data, attributes)).toBe(202);
  expect(await imageOf(name)).toMatchObject({ spec: { url: data.url } });
  return { data, attributes };
}

const reportsOf = async (name: string, reason = 'PublisherNotAuthenticated') =>
  (await harness.kube.list(Event, farm(name)))
    .map((event) => event as unknown as { reason: string; message: string; involvedObject: { name: string } })
    .filter(({ reason: found, involvedObject }) => found === reason && involvedObject.name === name)
    .map(({ message }) => message);

/** The post goes to the function itself, past Broker and gateway. Gained: what every tenant boots. */
test.each<[string, (data: object) => Record<string, string>]>([
  ['without a signature', () => ({})],
  ['without a signature, of the year 2126', () => ({ time: '2126-01-01T00:00:00Z' })],
  ['with a key of its own', (data) => signed(data, { key: `whsec_${Buffer.alloc(32, 1).toString('base64')}` })],
  ['with the signature of other data', () => signed({ name: 'another' })],
  ['with the signature of another id', (data) => ({ ...signed(data), id: '2' })],
  ['with the signature of another time', (data) => ({ ...signed(data), webhooktimestamp: '9999999999' })],
  ['without the time', (data) => ({ id: '1', webhooksignature: signed(data).webhooksignature })],
  ['without the signature', (data) => ({ id: '1', webhooktimestamp: signed(data).webhooktimestamp })],
  ['with an empty one', (data) => ({ ...signed(data), webhooksignature: 'v1,' })],
  ['with a time that is no number', (data) => ({ ...signed(data), webhooktimestamp: 'NaN' })],
])('an event %s changes no image of a pipeline, and is reported', async (how, attributesOf) => {
  const name = `victim-${how.length}`;
  await publish(name);
  const before = await imageOf(name);
  const evil = published(name, 'evil');
  expect(await harness.message(imagePublished, evil, { source: '/mallory', ...attributesOf(evil) })).toBe(202);
  expect(await imageOf(name)).toEqual(before);
  expect(await reportsOf(name)).toEqual([expect.stringContaining('of /mallory for image victim')]);
  // It does not lock out the publisher, either.
  await publish(name, { id: '2' }, 'newer');
});

test('an unsigned event makes no image, and its Event says how to sign', async () => {
  expect(await harness.message(imagePublished, published('new'))).toBe(202);
  expect(await imageOf('new')).toBeUndefined();
  const events = await harness.kube.list(Event, { namespace: policyRef.namespace });
  expect(events).toMatchObject([{ involvedObject: { kind: 'ConfigMap' }, reason: 'PublisherNotAuthenticated' }]);
  expect(events[0]?.message).toContain('ot-functions preload --sign');
});

// Gained: all publications that share the reconcile fail with it, and it is delivered again for hours.
test.each(['\ud800', '../..', '', 'sync-operator'])(
  'a namespace %j that no image can be in stops no other',
  async (namespace) => {
    const before = await harness.kube.list(VMDiskImage);
    expect(await harness.message(imagePublished, { ...published('a'), namespace }, { source: '/mallory' })).toBe(202);
    expect(await harness.kube.list(VMDiskImage)).toEqual(before);
  },
);

// Gained: Events at the images of others, in namespaces where the sender may write nothing.
test.each([
  ['a stranger', () => ({})],
  ['a publisher', (data: object) => signed(data)],
])('an event of %s about an image elsewhere is reported at the policy, not there', async (who, attributesOf) => {
  const elsewhere = { namespace: 'default', name: who.replace(' ', '-') };
  const { apiVersion, kind, spec } = aVMDiskImage();
  await harness.kube.create(VMDiskImage, { apiVersion, kind, metadata: elsewhere, spec });
  const data = { ...published(elsewhere.name), namespace: elsewhere.namespace };
  expect(await harness.message(imagePublished, data, { id: who, ...attributesOf(data) })).toBe(202);
  expect(await harness.kube.list(Event, { namespace: elsewhere.namespace })).toEqual([]);
  expect(await harness.kube.list(Event, { namespace: policyRef.namespace })).not.toEqual([]);
});

// Gained: another download, an old content, or a deleted image.
test('a repeated event has no effect, with any attributes that are not signed', async () => {
  const first = await publish('replayed');
  const afterFirst = await imageOf('replayed');
  const replay = (attributes = {}) =>
    harness.message(imagePublished, first.data, { ...first.attributes, ...attributes });
  const changed = { source: '/mallory', time: '2126-01-01T00:00:00Z' };
  await replay();
  await replay(changed);
  expect(await imageOf('replayed')).toEqual(afterFirst);
  await publish('replayed', { id: '2' }, 'newer');
  const afterSecond = await imageOf('replayed');
  // Not by a function that has just started, either.
  const woken = harness.another((kube) => kube);
  await woken.message(imagePublished, first.data, first.attributes);
  await replay(changed);
  expect(await imageOf('replayed')).toEqual(afterSecond);
  expect(await reportsOf('replayed', 'PublishedImageNotMade')).toEqual([expect.stringContaining('is not after')]);
});

test('of two publications of one second the first counts, and the other is reported', async () => {
  const atMs = nextSecond();
  const first = await publish('twice', { atMs });
  const data = published('twice', 'other');
  await harness.message(imagePublished, data, signed(data, { id: '2', atMs }));
  await harness.message(imagePublished, first.data, first.attributes);
  expect(await imageOf('twice')).toMatchObject({ spec: { url: first.data.url } });
  expect(await reportsOf('twice', 'PublishedImageNotMade')).toHaveLength(1);
});

test('an event that was kept for over five hours brings no deleted image back', async () => {
  const { data, attributes } = await publish('deleted');
  await harness.kube.patch(VMDiskImage, farm('deleted'), { metadata: { finalizers: null } });
  await harness.kube.delete(VMDiskImage, farm('deleted'));
  await harness.another((kube) => kube, takenForMs + 60_000).message(imagePublished, data, attributes);
  expect(await imageOf('deleted')).toBeUndefined();
});

test('a stranger under the id of a pipeline takes the place of none, and floods no one with Events', async () => {
  const data = published('raced');
  const attributes = { source: 'https://ci.example/42', ...signed(data, { id: 'known-before' }) };
  const evil = published('raced', 'evil');
  const post = (what: object, by: Record<string, string>) => harness.message(imagePublished, what, by);
  await Promise.all([
    post(evil, { source: attributes.source, id: attributes.id }),
    post(data, attributes),
    post(evil, { source: attributes.source, id: attributes.id, time: '2126-01-01T00:00:00Z' }),
    ...Array.from({ length: 50 }, (_, index) => post(evil, { id: `flood-${index}` })),
  ]);
  expect(await imageOf('raced')).toMatchObject({ spec: { url: data.url } });
  await post(evil, {});
  expect((await reportsOf('raced')).length).toBeLessThanOrEqual(1);
});

test('a key counts from when it is in the Secret until it is taken out', async () => {
  const key = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const set = (text: string | null) =>
    harness.kube.patch(Secret, publicationKeysRef, {
      data: { next: text && Buffer.from(`${text}\n`).toString('base64') },
    });
  await set(key);
  await publish('rotated', { id: '1', key });
  await publish('rotated', { id: '2', key: publicationKey }, 'newer');
  await set(null);
  const data = published('rotated', 'evil');
  await harness.message(imagePublished, data, signed(data, { id: '3', key }));
  expect(await imageOf('rotated')).toMatchObject({ spec: { url: published('rotated', 'newer').url } });
});

test.each(['', 'secret', 'whsec_', 'whsec_AAAA'])('a key "%s" that anyone could guess is ignored', async (key) => {
  await harness.kube.delete(Secret, publicationKeysRef);
  await harness.kube.create(Secret, {
    metadata: publicationKeysRef,
    data: { weak: Buffer.from(key).toString('base64') },
  });
  const name = `weak-${key.length}`;
  const data = published(name);
  const attributes = key.length > 6 ? signed(data, { key }) : signed(data);
  await harness.message(imagePublished, data, attributes);
  expect(await imageOf(name)).toBeUndefined();
  await harness.kube.delete(Secret, publicationKeysRef);
  await trustPublicationKey(harness.kube);
});

test.each(['accept', 'Any', ''])('a policy that says "%s" accepts nothing unsigned', async (unsignedPublications) => {
  await harness.kube.patch(ConfigMap, policyRef, { data: { unsignedPublications } });
  await harness.message(imagePublished, published('unsigned'));
  expect(await imageOf('unsigned')).toBeUndefined();
  await harness.kube.patch(ConfigMap, policyRef, { data: { unsignedPublications: null } });
});
