import { afterAll, expect, test } from 'vitest';
import { diskImageFact, factAttributes } from '../../shared/images/facts.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { createImage, createMachine } from '../../test/support/harness/create.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';

const fresh = factAttributes(aVMDiskImage());
const harness = await serveFunction(declaration);
afterAll(harness.close);
const { kube } = harness;

await kube.create(Namespace, { metadata: { name: 'lab' } });

const ofImage = (name: string) => ({ name, namespace: 'vmdi-farm' });
const ofMachine = (name: string) => ({ name, namespace: 'lab' });

/** As start-sync takes it in. */
const queue = (name: string) => createImage(kube, name, { status: { phase: 'Queued' } });

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
  await queue('stale');
  await createMachine(kube, 'stale-a', 'stale');
  const slow = slowInstance();
  const answer = slow.changed('stale-a');
  await slow.isThere;
  await createMachine(kube, 'stale-b', 'stale');
  await harness.changed(VirtualMachine, ofMachine('stale-b'));
  expect(await countOf('stale')).toBe(2);
  slow.goOn();
  expect(await answer).toBe(202);
  expect(slow.answers).toEqual(['refused']);
  expect(await countOf('stale')).toBe(2);
});

test('a count that another instance found right, while this one was about to write less, does not stay wrong', async () => {
  const names = Array.from({ length: 21 }, (_, index) => `same-${String(index).padStart(2, '0')}`);
  await queue('same');
  for (const name of names) await createMachine(kube, name, 'same');
  await harness.message(diskImageFact('succeeded'), ofImage('same'), fresh);
  expect(await countOf('same')).toBe(21);

  await kube.delete(VirtualMachine, ofMachine('same-20'));
  const slow = slowInstance();
  const answer = slow.changed('same-20');
  await slow.isThere;
  await createMachine(kube, 'same-21', 'same');
  await harness.changed(VirtualMachine, ofMachine('same-21'));
  expect(await countOf('same')).toBe(21);
  slow.goOn();
  expect(await answer).toBe(202);
  expect(slow.answers).toEqual(['written', 'written']);
  expect(await countOf('same')).toBe(21);
});
