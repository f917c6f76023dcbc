import { afterAll, expect, test } from 'vitest';
import { imagePublished } from '../../shared/events.ts';
import { publishedContent, syncRequested, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { signed } from '../../test/support/builders/publications.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';

const harness = await serveFunction(declaration);
afterAll(harness.close);

const publish = (data: unknown) => harness.message(imagePublished, data, signed(data));

const url = 'https://s3.eu-west-1.amazonaws.com/images/ubuntu.qcow2';

test('a published image is made as the policy says, under the name of preload', async () => {
  expect(await publish({ name: 'ubuntu', url, digest: 'sha256:1' })).toBe(202);
  const image = await harness.kube.get(VMDiskImage, { name: 'ubuntu', namespace: 'vmdi-farm' });
  expect(image).toMatchObject({ spec: { url, storageClass: 'gp3', secretRef: 's3-reader', diskSize: '24Gi' } });
  expect(image?.metadata.managedFields).toMatchObject([{ manager: 'preload', operation: 'Apply' }]);
});

test("a person's request for a sync does not stand in the way of the next publication", async () => {
  const ref = { name: 'ubuntu', namespace: 'vmdi-farm' };
  await harness.kube.patch(
    VMDiskImage,
    ref,
    { metadata: { annotations: { [syncRequested]: 'now' } } },
    { fieldManager: 'kubectl-annotate' },
  );
  expect(await publish({ name: 'ubuntu', url, digest: 'sha256:2' })).toBe(202);
  const { metadata } = (await harness.kube.get(VMDiskImage, ref)) ?? {};
  expect(metadata?.annotations).toMatchObject({ [syncRequested]: 'now', [publishedContent]: 'sha256:2' });
});

test("a spec that is an admin's stays the admin's", async () => {
  const ref = { name: 'theirs', namespace: 'vmdi-farm' };
  const spec = { url, storageClass: 'gp3', snapshotClass: 'ebs-snapshot', secretRef: 'own', diskSize: '8Gi' };
  await harness.kube.apply(VMDiskImage, { metadata: ref, spec } as { metadata: typeof ref }, {
    fieldManager: 'kubectl',
  });
  expect(await publish({ name: 'theirs', url })).toBe(202);
  expect(await harness.kube.get(VMDiskImage, ref)).toMatchObject({ spec: { secretRef: 'own', diskSize: '8Gi' } });
});

test('data that does not fit is refused', async () => {
  expect(await publish({ name: 'Not A Name', secretRef: 'mine' })).toBe(400);
});
