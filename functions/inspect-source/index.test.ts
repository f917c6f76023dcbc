import { afterAll, beforeAll, expect, test } from 'vitest';
import { startObjectStore } from '../../deploy/local/object-store/object-store.ts';
import { diskImageFact } from '../../shared/images/facts.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { policyRef } from '../../shared/policy.ts';
import { at } from '../../test/support/builders/images.ts';
import { createImage } from '../../test/support/harness/create.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import { fixture } from './fixtures/read.ts';
import declaration from './index.ts';

const harness = await serveFunction(declaration);
const { kube } = harness;
const store = await startObjectStore({
  keys: [{ accessKeyId: 'key', secretKey: 'secret' }],
  publicBuckets: ['public'],
});
afterAll(async () => {
  await harness.close();
  await store.close();
});

beforeAll(async () => {
  await kube.patch(ConfigMap, policyRef, { data: { inspectTimeout: '30s', allowedSources: `${store.url}/**` } });
  await store.put('images', 'good.qcow2', await fixture('disk.qcow2'));
  await store.put('public', 'good.qcow2', await fixture('disk.qcow2'));
});

interface Given {
  namespace?: string;
  spec?: object;
  phase?: string;
}

/** An image in that phase, for which the event comes: what is written of its inspection, and what was asked of the store. */
async function inspected(image: string, { namespace = 'vmdi-farm', spec = {}, phase = 'Queued' }: Given = {}) {
  const ref = { name: image, namespace };
  const url = `${store.url}/images/${image}.qcow2`;
  await createImage(kube, image, { namespace, spec: { url, ...spec }, status: { phase, queuedAt: at(0) } });
  expect(await harness.message(diskImageFact('queued'), ref)).toBe(202);
  const found = await kube.get(VMDiskImage, ref);
  return { source: found?.status?.source, condition: found?.status?.conditions?.[0], ref };
}

test('an image that is queued is inspected once, with three reads of its source', async () => {
  const { source, condition, ref } = await inspected('good');
  expect(source).toMatchObject({ format: 'qcow2', virtualSize: 8 << 20, bytes: 3_473_408, queuedAt: at(0) });
  expect(condition).toMatchObject({ type: 'SourceInspected', status: 'True', reason: 'Inspected' });
  const sent = store.bytesSent('images/good.qcow2');
  expect(sent).toBeLessThanOrEqual((64 + 2) * 1024);
  expect(await harness.message(diskImageFact('queued'), ref)).toBe(202);
  expect(await harness.sweep()).toBe(202);
  expect(store.bytesSent('images/good.qcow2')).toBe(sent);
});

test('a missing object is reported', async () => {
  expect((await inspected('missing')).condition).toMatchObject({ status: 'False', reason: 'SourceMissing' });
});

test('so is one whose name S3 cannot have', async () => {
  const url = `${store.url}/No_Bucket/a`;
  expect((await inspected('impossible', { spec: { url } })).condition).toMatchObject({ reason: 'SourceMissing' });
});

test.each([
  ['in a namespace that is none of images', { namespace: 'default' }, 'default is not one of them'],
  ['of a registry', { spec: { sourceType: 'registry', url: 'docker://r.example/a', secretRef: null } }, 'a registry'],
  ['at an address that no line names', { spec: { url: 'http://127.0.0.1:9/a', sourceType: 'http' } }, 'allowedSources'],
])('an image %s is not inspected, and says why', async (what, given, said) => {
  const { condition } = await inspected(what.replaceAll(' ', '-').toLowerCase(), given);
  expect(condition).toMatchObject({ status: 'Unknown', reason: 'NotInspected' });
  expect(condition?.message).toContain(said);
});

const byHttp = {
  spec: { url: `${store.url}/public/good.qcow2`, sourceType: 'http', secretRef: undefined },
  status: { phase: 'Queued', queuedAt: at(0) },
} as const;

test('the sweep finds an image of which no event told', async () => {
  const ref = { name: 'unheard', namespace: 'vmdi-farm' };
  await createImage(kube, ref.name, byHttp);
  expect(await harness.sweep()).toBe(202);
  expect((await kube.get(VMDiskImage, ref))?.status?.source).toMatchObject({ format: 'qcow2' });
});

test('an image is judged by a policy that is as new as the image', async () => {
  const ref = { name: 'after-an-edit', namespace: 'vmdi-farm' };
  await kube.patch(ConfigMap, policyRef, { data: { allowedSources: '' } });
  // An admin edits the policy and makes the image while the function already reconciles.
  const whileItLists = async () => {
    await kube.patch(ConfigMap, policyRef, { data: { allowedSources: `${store.url}/**` } });
    await createImage(kube, ref.name, byHttp);
  };
  const instance = harness.another((mine) => ({
    ...mine,
    list: (async (...args: Parameters<typeof mine.list>) => {
      await whileItLists();
      return mine.list(...args);
    }) as typeof mine.list,
  }));
  expect(await instance.sweep()).toBe(202);
  expect((await kube.get(VMDiskImage, ref))?.status?.conditions?.[0]).toMatchObject({ reason: 'Inspected' });
});

test('an image in another phase is left alone, and so are all if the policy wants no inspections', async () => {
  expect((await inspected('syncing', { phase: 'Syncing' })).condition).toBeUndefined();
  await kube.patch(ConfigMap, policyRef, { data: { inspectTimeout: '0s' } });
  expect((await inspected('unwanted')).condition).toBeUndefined();
});

test('an image that does not exist is no error', async () => {
  expect(await harness.message(diskImageFact('queued'), { name: 'gone', namespace: 'vmdi-farm' })).toBe(202);
});
