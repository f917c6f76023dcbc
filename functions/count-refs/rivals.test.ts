import { afterAll, expect, test } from 'vitest';
import { diskImageFact, factAttributes } from '../../shared/images/facts.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../test/support/builders/machines.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';

const fresh = factAttributes(aVMDiskImage());
const harness = await serveFunction(declaration);
afterAll(harness.close);
const { kube } = harness;

await kube.create(Namespace, { metadata: { name: 'lab' } });

const ofImage = (name: string) => ({ name, namespace: 'vmdi-farm' });
const ofMachine = (name: string) => ({ name, namespace: 'lab' });

async function createImage(name: string) {
  const { apiVersion, kind, spec } = aVMDiskImage();
  await kube.create(VMDiskImage, { apiVersion, kind, metadata: ofImage(name), spec });
  // As start-sync takes it in.
  await kube.patch(
    VMDiskImage,
    ofImage(name),
    { status: { phase: 'Queued' } },
    { subresource: 'status', fieldManager: 'start-sync' },
  );
}

async function createMachine(name: string, image: string) {
  const { apiVersion, kind, spec } = aVirtualMachine({ spec: { vmDiskImageRef: ofImage(image) } });
  await kube.create(VirtualMachine, { apiVersion, kind, metadata: ofMachine(name), spec });
}

const countOf = async (image: string) => (await kube.get(VMDiskImage, ofImage(image)))?.status?.references?.count;

/** A second instance, which is held up right before its first write of an image. */
function slowInstance() {
  const isThere = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const answers: string[] = [];
  const slow = harness.another((client) => ({
    ...client,
    patch: async (resource, ref, body, options) => {
      if (resource.kind !== VMDiskImage.kind) return client.patch(resource, ref, body, options);
      isThere.resolve();
      await gate.promise;
      const answer = client.patch(resource, ref, body, options);
      await answer.then(
        () => answers.push('written'),
        () => answers.push('refused'),
      );
      return answer;
    },
  }));
  const changed = (name: string) => slow.changed(VirtualMachine, ofMachine(name));
  return { changed, isThere: isThere.promise, goOn: gate.resolve, answers };
}

test('an instance that was slower than another counts again instead of writing its earlier count', async () => {
  await createImage('stale');
  await createMachine('stale-a', 'stale');
  const slow = slowInstance();
  const answer = slow.changed('stale-a');
  await slow.isThere;
  await createMachine('stale-b', 'stale');
  await harness.changed(VirtualMachine, ofMachine('stale-b'));
  expect(await countOf('stale')).toBe(2);
  slow.goOn();
  expect(await answer).toBe(202);
  expect(slow.answers).toEqual(['refused']);
  expect(await countOf('stale')).toBe(2);
});

test('a count that another instance found right, while this one was about to write less, does not stay wrong', async () => {
  const names = Array.from({ length: 21 }, (_, index) => `same-${String(index).padStart(2, '0')}`);
  await createImage('same');
  for (const name of names) await createMachine(name, 'same');
  await harness.message(diskImageFact('succeeded'), ofImage('same'), fresh);
  expect(await countOf('same')).toBe(21);

  await kube.delete(VirtualMachine, ofMachine('same-20'));
  const slow = slowInstance();
  const answer = slow.changed('same-20');
  await slow.isThere;
  await createMachine('same-21', 'same');
  await harness.changed(VirtualMachine, ofMachine('same-21'));
  expect(await countOf('same')).toBe(21);
  slow.goOn();
  expect(await answer).toBe(202);
  expect(slow.answers).toEqual(['written', 'written']);
  expect(await countOf('same')).toBe(21);
});
