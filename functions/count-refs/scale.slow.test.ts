import { afterAll, expect, test } from 'vitest';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { imageReferenceFinalizer, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { createImage, createMachine } from '../../test/support/harness/create.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';

const harness = await serveFunction(declaration);
afterAll(harness.close);
const { kube } = harness;

/** What a Trigger waits for an answer (knative/broker.ts, timeout). */
const deliveryMs = 10_000;
const image = { name: 'crowd', namespace: 'vmdi-farm' };
const ofMachine = (index: number) => ({ name: `vm-${index}`, namespace: 'lab' });

async function tookMs(reconcile: () => Promise<number>, answer: number): Promise<number> {
  const startedMs = performance.now();
  expect(await reconcile()).toBe(answer);
  return performance.now() - startedMs;
}

test('a reconcile of a thousand machines of one image ends before its event is given up, be there nothing to do or all of them to mark or let go', async () => {
  await kube.create(Namespace, { metadata: { name: 'lab' } });
  // A new image is counted once it is queued, not before.
  await createImage(kube, image.name, { status: { phase: 'Queued' } });
  for (let index = 0; index < 1000; index++) await createMachine(kube, ofMachine(index).name, image.name);
  const took: Record<string, number> = {};
  took.firstMarks = await tookMs(() => harness.changed(VirtualMachine, ofMachine(0)), 202);
  expect((await kube.get(VMDiskImage, image))?.status?.references).toMatchObject({ count: 1000 });
  const unmarked = async () =>
    (await kube.list(VirtualMachine)).filter(({ metadata }) => !metadata.finalizers?.includes(imageReferenceFinalizer))
      .length;
  for (let reconciles = 1; (await unmarked()) > 0; reconciles++) {
    expect(reconciles).toBeLessThan(30);
    await harness.audit();
  }
  took.nothing = await tookMs(() => harness.changed(VirtualMachine, ofMachine(0)), 202);
  took.audit = await tookMs(() => harness.audit(), 202);
  for (let index = 0; index < 1000; index++) await kube.delete(VirtualMachine, ofMachine(index));
  // The rest are wanted again.
  took.removeFinalizer = await tookMs(() => harness.changed(VirtualMachine, ofMachine(999)), 503);
  expect((await kube.get(VMDiskImage, image))?.status?.references).toEqual({ count: 0, by: [] });
  for (let reconciles = 1; (await harness.changed(VirtualMachine, ofMachine(999))) === 503; reconciles++)
    expect(reconciles).toBeLessThan(30);
  expect(await kube.list(VirtualMachine)).toEqual([]);
  console.log(
    'a reconcile took, in ms:',
    Object.entries(took)
      .map(([what, ms]) => `${what} ${Math.round(ms)}`)
      .join(', '),
  );
  for (const [what, ms] of Object.entries(took)) expect(ms, what).toBeLessThan(deliveryMs);
}, 120_000);
