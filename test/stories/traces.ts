import { expect } from 'vitest';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { CollectedSpan, Collector } from '../support/tools/otlp-collector.ts';
import { putImage } from './images.ts';
import { createMachine, templateOf, untilMachine } from './machines.ts';
import type { Post } from './preload.ts';
import { aMachine, policyOf, readyWorkspace } from './workspaces.ts';
import { type Story, setPolicy, untilPhase } from './world.ts';

const pipeline = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const signature = 'X-Amz-Signature=of-the-traces';
const password = 'a-password-of-the-traces';

/** What a collector has by the time that all is Ready: one trace for each image revision, machine and workspace, from its beginning. */
export const storyWith = (collector: Collector, post: Post, withinMs: number): Story => ({
  name: 'a collector gets one trace from the event, or the apply, to Ready, in which each function has its part',
  policy: policyOf,
  run: async (world) => {
    const { broker, kube, namespace, store } = world;
    const { spans } = collector;
    await setPolicy(world, {
      imageNamespaces: namespace,
      imageStorageClass: 'gp3',
      imageSnapshotClass: 'ebs-snapshot',
      imageSecretRef: 's3-reader',
      imageDiskSize: '64Mi',
    });
    for (const name of ['published', 'asked', 'labs']) await putImage(world, name);
    const data = { name: 'published', url: `${store.url}/images/published.qcow2?${signature}` };
    const traceparent = `00-${pipeline.traceId}-${pipeline.spanId}-01`;
    expect(await post(broker, { id: 'traced', data, traceparent })).toBe(202);
    await untilPhase(world, 'published', 'Succeeded');
    const users = [{ name: 'demo', plain_text_passwd: password }];
    await createMachine(world, 'vm', 'asked', { vmDiskImageTemplate: templateOf(world, 'asked'), users });
    await untilMachine(world, 'vm', 'Ready', 60_000);
    await readyWorkspace(world, 'lab', { vms: [aMachine(world, 'one', 'labs')] }, 120_000);
    // The longest of all, and sent last; what was sent before by others may still be on its way.
    const ends = ['ot.image.ready.duration', 'ot.machine.ready.duration', 'ot.workspace.ready.duration'];
    await collector.until(() => [3, 2, 1].every((count, index) => countOf(spans, ends[index]) >= count), withinMs);

    const heard = spans.filter(({ links }) => links.some(({ traceId }) => traceId === pipeline.traceId));
    expect(heard.map(({ name }) => name)).toEqual(['preload reconcile']);
    const made = spans.find(
      ({ parentSpanId, name }) => parentSpanId === heard[0]?.spanId && name === 'apply VMDiskImage',
    );
    const published = lifeLinkedWith(made, spans, 'ot.image.ready.duration');
    expectLife(published, 'ot.image.ready.duration', 'ot.image.phase', {
      functions: ['follow-sync', 'start-sync'],
      phases: ['Queued', 'Syncing', 'Snapshotting', 'Succeeded'],
    });
    expect(published.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['ot.image.queue.wait.duration', 'ot.image.sync.duration']),
    );

    const machine = lifeOf(
      spans,
      ({ attributes }) => attributes['k8s.object.name'] === 'vm' && 'ot.machine.uid' in attributes,
    );
    expectLife(machine, 'ot.machine.ready.duration', 'ot.machine.phase', {
      functions: ['count-refs', 'ensure-vmdi', 'provision-vm'],
      phases: ['Provisioning', 'Ready'],
    });
    const asked = lifeLinkedWith(
      machine.find(({ name }) => name === 'create VMDiskImage'),
      spans,
      'ot.image.ready.duration',
    );
    const { metadata } = (await kube.get(VMDiskImage, { namespace, name: 'asked' })) ?? {};
    expect(new Set(asked.map(({ attributes }) => attributes['ot.image.uid']))).toEqual(new Set([metadata?.uid]));

    const lab = lifeOf(spans, ({ attributes }) => 'ot.workspace.uid' in attributes);
    expectLife(lab, 'ot.workspace.ready.duration', 'ot.workspace.phase', {
      functions: ['compose-workspace'],
      phases: ['Provisioning', 'Ready'],
    });
    const one = lifeLinkedWith(
      lab.find(({ name }) => name === 'create VirtualMachine'),
      spans,
      'ot.machine.ready.duration',
    );
    expect(new Set(one.map(doneBy))).toContain('provision-vm');

    for (const secret of [signature, password]) expect(collector.bodies.join('\n')).not.toContain(secret);
  },
});

const doneBy = ({ attributes }: CollectedSpan) => attributes['ot.function'];

const countOf = (spans: readonly CollectedSpan[], name = '') =>
  new Set(spans.filter((span) => span.name === name).map(({ traceId }) => traceId)).size;

const ofTrace = (spans: readonly CollectedSpan[], traceId?: string) =>
  spans
    .filter((span) => span.traceId === traceId)
    .sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));

/** All of the trace in which there is such a span, by time. */
const lifeOf = (spans: readonly CollectedSpan[], isOfIt: (span: CollectedSpan) => boolean) =>
  ofTrace(spans, spans.find((span) => isOfIt(span))?.traceId);

/** All of that trace which a span is linked with that has such a span in it. */
const lifeLinkedWith = (from: CollectedSpan | undefined, spans: readonly CollectedSpan[], duration: string) => {
  const found = from?.links.map(({ traceId }) => ofTrace(spans, traceId)) ?? [];
  return found.find((life) => life.some(({ name }) => name === duration)) ?? [];
};

/** One span lasts from the beginning to Ready, and all that was done on the way lies within it, by those functions, phase by phase. */
function expectLife(
  life: readonly CollectedSpan[],
  duration: string,
  phaseAttribute: string,
  { functions, phases }: { functions: readonly string[]; phases: readonly string[] },
) {
  expect([...new Set(life.map(doneBy))]).toEqual(expect.arrayContaining([...functions]));
  const steps = life.filter(({ attributes }) => phaseAttribute in attributes);
  const last = steps.findIndex(({ attributes }) => attributes[phaseAttribute] === phases.at(-1));
  const passed = steps.slice(0, last + 1).map(({ attributes }) => attributes[phaseAttribute]);
  expect(passed.filter((phase, index) => phase !== passed[index - 1])).toEqual(phases);
  const whole = life.filter(({ name }) => name === duration).sort((a, b) => ending(b) - ending(a))[0];
  expect(beginning(whole)).toBeLessThanOrEqual(beginning(steps[0]));
  // It ends at the decision, and its status is written then; some of these times are in whole seconds.
  expect(ending(whole) + 1000).toBeGreaterThan(beginning(steps[last - 1]));
  expect(ending(whole)).toBeLessThanOrEqual(ending(steps[last]));
}

const beginning = (span?: CollectedSpan) => Number(span?.startTimeUnixNano) / 1e6;
const ending = (span?: CollectedSpan) => Number(span?.endTimeUnixNano) / 1e6;
