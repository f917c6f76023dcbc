import { metrics as api, createNoopMeter } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { holdersOf, leaseRef } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { ClusterRole } from '../../shared/kinds/rbac/cluster-role.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { metrics } from '../../shared/runtime/telemetry/metrics.ts';
import { prometheusName } from '../../shared/runtime/telemetry/metrics-prometheus.ts';
import { spanContextOf } from '../../shared/runtime/telemetry/telemetry.ts';
import { createMachine, templateOf, untilMachine, untilReason } from '../../test/stories/machines.ts';
import { postWithFetch } from '../../test/stories/preload.ts';
import { dropsAllButTimers } from '../../test/stories/subscriptions.ts';
import { aMachine, createWorkspace, untilWorkspace } from '../../test/stories/workspaces.ts';
import { createImage, setPolicy, until, untilGone, untilPhase } from '../../test/stories/world.ts';
import { trustPublicationKey } from '../../test/support/builders/publications.ts';
import { keptSpans, type ReadableSpan } from '../../test/support/tools/spans.ts';
import { startObjectStore } from './object-store/object-store.ts';
import { qcow2Buffer } from './object-store/qcow2.ts';
import { type LocalOptions, startLocal } from './start.ts';

const signature = 'X-Amz-Signature-of-the-test';
const password = 'a-password-of-the-telemetry-test';
const keys = { accessKeyId: 'reader', secretKey: 'a-secret-of-the-telemetry-test' };

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A cluster beside an object store with one small image in it, as a story sees it. */
async function aWorld(options: LocalOptions = {}) {
  const store = await startObjectStore({ keys: [keys] });
  ends.push(store.close);
  let bytesSent = 0;
  store.onBytes((_, bytes) => {
    bytesSent += bytes;
  });
  await store.put('images', 'one.qcow2', qcow2Buffer({ virtualBytes: 32 << 20, dataBytes: 256 << 10, seed: 'one' }));
  const cluster = await startLocal({
    schedules: { sweep: '* * * * * *', audit: '* * * * * *' },
    gracePeriodMs: 0,
    bytesSent: () => bytesSent,
    ...options,
  });
  ends.push(cluster.close);
  const namespace = 'vmdi-farm';
  await cluster.kube.create(Namespace, { metadata: { name: namespace } }).catch(() => undefined);
  await cluster.kube.create(Secret, {
    metadata: { name: 's3-reader', namespace },
    data: { accessKeyId: btoa(keys.accessKeyId), secretKey: btoa(keys.secretKey) },
  });
  const { kube, broker } = cluster;
  await trustPublicationKey(kube);
  // Attempts are to fail.
  await setPolicy(
    { kube },
    { allowedSources: `${store.url}/** s3-reader`, inspectTimeout: '0s', egressBudget: '1Ti/30d' },
  );
  return { ...cluster, bytesSent: () => bytesSent, world: { kube, broker, store, namespace } };
}

const textOf = async (url: string | undefined) => (await fetch(url ?? '')).text();
const sampleOf = (text: string, sample: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${sample} `))
      ?.slice(sample.length + 1),
  );

/** Answers start-sync's first write of the Lease and of a status as if another writer had been faster. */
function rivals(): NonNullable<LocalOptions['intercept']> {
  const left = new Set([/^PUT .*\/leases\/sync-slots/, /^PATCH .*\/vmdiskimages\/.*\/status/]);
  return ({ method, path, user }) => {
    const found = [...left].find((pattern) => user.endsWith(':start-sync') && pattern.test(`${method} ${path}`));
    return found && left.delete(found) ? { status: 409 } : undefined;
  };
}

describe('metrics of a local cluster', { timeout: 60_000 }, () => {
  test('hold every metric of the table once images were synced, retried, refused and raced for', async () => {
    const { world, metricsUrl, bytesSent } = await aWorld({ metricsPort: 0, intercept: rivals() });
    await setPolicy(world, { concurrency: '3', retryLimit: '2', retryBackoffDuration: '200ms' });
    world.store.faults.push({ match: 'one.qcow2', mode: 'cutAt', fraction: 0.5, times: 2 });
    await createImage(world, 'one');
    await createImage(world, 'lost');
    await untilPhase(world, 'one', 'Succeeded', 30_000);
    await untilPhase(world, 'lost', 'Failed', 30_000);
    await until(world, Lease, leaseRef, (lease) => holdersOf(lease)?.length === 0);
    // A point is written right after the status, so what was seen of the status may be ahead of it.
    await vi.waitFor(async () => expect(await textOf(metricsUrl)).toContain('ot_image_ready_duration_seconds_count 1'));

    await createMachine(world, 'vm', 'one', {
      readiness: { guestAgent: true, timeout: '5m', failureThreshold: 3, onFailure: 'Report' },
    });
    await untilMachine(world, 'vm', 'Ready', 30_000);
    await world.kube.delete(VMDiskImage, { namespace: world.namespace, name: 'lost' });
    await untilGone(world, VMDiskImage, { namespace: world.namespace, name: 'lost' });
    const pruned = 'ot_image_pruned_total{rule="Deleted"}';
    for (const point of [
      'ot_machine_ready_duration_seconds_count',
      'ot_machine_guest_ready_duration_seconds_count',
      pruned,
    ])
      await vi.waitFor(async () => expect(await textOf(metricsUrl)).toContain(`${point} 1`));

    await createWorkspace(world, 'lab', { vms: [aMachine(world, 'vm', 'one')] });
    await untilWorkspace(world, 'lab', 'Ready', 30_000);
    const whole = 'ot_workspace_ready_duration_seconds_count{stage="Ready"}';
    await vi.waitFor(async () => expect(await textOf(metricsUrl)).toContain(`${whole} 1`));

    await createMachine(world, 'intruder', 'one', { interfaces: [{ network: 'elsewhere/net' }] });
    const refused = 'ot_refused_attempts_total{function="provision-vm",reason="NetworkNotAllowed"}';
    await vi.waitFor(async () => expect(await textOf(metricsUrl)).toContain(`${refused} 1`), { timeout: 10_000 });

    await postWithFetch(world.broker, { data: {} });
    const deadLetter = 'ot_dead_letters_total{function="preload",event="message"}';
    await vi.waitFor(async () => expect(await textOf(metricsUrl)).toContain(`${deadLetter} 1`), { timeout: 10_000 });

    const text = await textOf(metricsUrl);
    // Those of OpenStack are in test/openstack/telemetry.slow.test.ts, that of missed events is below.
    const elsewhere = (name: string) => /^ot\.(servers|openstack\..*|events\.missed)$/.test(name);
    for (const metric of metrics.filter(({ name }) => !elsewhere(name))) {
      const name = prometheusName(metric) + (metric.kind === 'histogram' ? '_bucket' : '');
      expect(text, name).toMatch(new RegExp(`^${name}[{ ]`, 'm'));
    }
    expect(text).not.toMatch(/NaN/);
    const attempts = 'ot_image_sync_attempts_total';
    expect(sampleOf(text, `${attempts}{result="success",reason="Downloaded"}`)).toBe(1);
    expect(sampleOf(text, `${attempts}{result="failure",reason="NotFound"}`)).toBe(1);
    expect(sampleOf(text, 'ot_image_sync_duration_seconds_count{result="success"}')).toBe(1);
    const whose = `image_namespace="${world.namespace}",requester="direct"`;
    expect(sampleOf(text, `ot_image_download_estimated_bytes_total{result="success",${whose}}`)).toBe(64 * 2 ** 20);
    expect(sampleOf(text, 'ot_image_download_io_bytes_total')).toBe(bytesSent());
    expect(bytesSent()).toBeGreaterThan(256 << 10);
    expect(sampleOf(text, 'ot_slots_held')).toBe(0);
    expect(sampleOf(text, 'ot_slots_free')).toBe(3);
    expect(sampleOf(text, 'ot_images{phase="Failed"}')).toBe(0);
    expect(sampleOf(text, 'ot_policy_valid')).toBe(1);
    expect(sampleOf(text, 'ot_machines{phase="Ready"}')).toBe(2);
    expect(sampleOf(text, 'ot_image_references{machines="2-10"}')).toBe(1);
    expect(sampleOf(text, 'ot_image_references{machines="0"}')).toBe(0);
    expect(sampleOf(text, 'ot_workspaces{phase="Ready"}')).toBe(1);
    expect(sampleOf(text, 'ot_workspace_components{phase="Ready"}')).toBe(3);
    const stages = [...text.matchAll(/ot_workspace_ready_duration_seconds_count\{stage="(\w+)"\} 1/g)];
    expect(stages.map(([, stage]) => stage).sort()).toEqual([
      'NamespaceReady',
      'Ready',
      'VMDiskImagesReady',
      'VirtualMachinesReady',
    ]);
    expect(sampleOf(text, 'ot_image_prunable')).toBe(0);
    expect(sampleOf(text, 'ot_lease_conflicts_total{function="start-sync"}')).toBe(1);
    expect(sampleOf(text, 'ot_write_conflicts_total{function="start-sync"}')).toBeGreaterThanOrEqual(1);
  });

  test('say at the next scrape who waits, who holds a slot, and that the policy does not parse', async () => {
    const { world, metricsUrl } = await aWorld({ metricsPort: 0 });
    world.store.limitTo(0);
    await setPolicy(world, { concurrency: '1' });
    const url = `${world.store.url}/images/one.qcow2`;
    for (const name of ['a', 'b', 'c']) await createImage(world, name, { url });
    await untilPhase(world, 'a', 'Syncing');
    await untilPhase(world, 'c', 'Queued');
    const text = await textOf(metricsUrl);
    expect(sampleOf(text, 'ot_image_queue_length')).toBe(2);
    expect(sampleOf(text, 'ot_image_waits{reason="SlotsTaken"}')).toBe(2);
    expect(sampleOf(text, 'ot_image_wait_duration_seconds{reason="SlotsTaken"}')).toBeGreaterThan(0);
    expect(sampleOf(text, 'ot_slots_idle_duration_seconds{progress="reported"}')).toBeGreaterThanOrEqual(0);
    expect(sampleOf(text, 'ot_images{phase="Syncing"}')).toBe(1);
    expect(sampleOf(text, 'ot_slots_held')).toBe(1);
    expect(sampleOf(text, 'ot_slots_free')).toBe(0);
    await setPolicy(world, { concurrency: 'many' });
    const invalid = await textOf(metricsUrl);
    expect(sampleOf(invalid, 'ot_policy_valid')).toBe(0);
    expect(sampleOf(invalid, 'ot_slots_free')).toBe(0);
    expect(sampleOf(invalid, 'ot_image_waits{reason="InvalidPolicy"}')).toBe(2);
  });

  test('count what only a timer found', async () => {
    const { world, eventing, metricsUrl } = await aWorld({ metricsPort: 0 });
    eventing.inject(dropsAllButTimers.faults ?? {});
    await createImage(world, 'one');
    await untilPhase(world, 'one', 'Succeeded', 30_000);
    const missed = 'ot_events_missed_total{function="start-sync"';
    await vi.waitFor(async () => expect(await textOf(metricsUrl)).toContain(missed));
  });

  test.each([
    ['machines', 'virtualmachines'],
    ['workspaces', 'workspaces'],
  ])('tell nothing of %s where the one function that reads them all may not', async (what, plural) => {
    const { kube, metricsUrl } = await aWorld({ metricsPort: 0 });
    expect(await textOf(metricsUrl)).toContain(`ot_${what}{phase="Ready"} 0`);
    const ref = { name: `${operatorNamespace}-start-sync` };
    const role = (await kube.get(ClusterRole, ref)) as unknown as { rules: { resources: string[] }[] };
    const rules = role.rules.filter(({ resources }) => !resources.includes(plural));
    expect(rules.length).toBeLessThan(role.rules.length);
    await kube.patch(ClusterRole, ref, { rules });
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const text = await textOf(metricsUrl);
    expect(log.mock.calls.join()).toContain(`metrics without ${what}`);
    log.mockRestore();
    expect(text).not.toContain(`ot_${what}`);
    expect(text).toContain('ot_policy_valid 1');
  });

  test('belong to a cluster: another in the same process starts at zero', async () => {
    const first = await startLocal({ metricsPort: 0 });
    await first.close();
    await expect(fetch(first.metricsUrl ?? '')).rejects.toThrow();
    const second = await startLocal({ metricsPort: 0 });
    ends.push(second.close);
    expect(await textOf(second.metricsUrl)).not.toContain('ot_image_sync_attempts_total');
  });
});

async function spansFromNowOn(): Promise<ReadableSpan[]> {
  const { spans, shutdown } = await keptSpans();
  ends.push(shutdown);
  return spans;
}

const tracesLinkedWith = ({ links }: ReadableSpan) => links.map(({ context }) => context.traceId);

describe('a machine that waits for the image that is made from its template', { timeout: 60_000 }, () => {
  test('has a trace from which one gets to the download it waits for', async () => {
    const spans = await spansFromNowOn();
    const { world } = await aWorld();
    world.store.limitTo(0);
    await createMachine(world, 'vm', 'one', { vmDiskImageTemplate: templateOf(world, 'one') });
    await untilReason(world, 'vm', 'ImageReady', 'ImageSyncing');
    const machine = await world.kube.get(VirtualMachine, { namespace: world.namespace, name: 'vm' });
    const { traceId } = spanContextOf({ machine: { uid: machine?.metadata.uid ?? '' } });
    const ofTraces = (ids: readonly string[]) => spans.filter((span) => ids.includes(span.spanContext().traceId));
    const doneBy = ({ attributes, name }: ReadableSpan) => `${attributes['ot.function']}: ${name}`;
    expect(ofTraces([traceId]).map(doneBy)).toContain('ensure-vmdi: create VMDiskImage');
    // What is seen of a status is ahead of the span it is written in.
    await vi.waitFor(() => {
      const waits = ofTraces([traceId]).findLast((span) => doneBy(span) === 'provision-vm: patchStatus VirtualMachine');
      expect(waits?.attributes['ot.machine.phase']).toBe('Provisioning');
      const reached = ofTraces(waits ? tracesLinkedWith(waits) : []).map(doneBy);
      expect(reached).toContain('start-sync: create DataVolume');
    });
    world.store.limitTo(undefined);
    await untilMachine(world, 'vm', 'Ready', 30_000);
  });
});

describe('a workspace with a machine', { timeout: 60_000 }, () => {
  test('has a trace from which one gets to the download of its image and to the work for its machine', async () => {
    const spans = await spansFromNowOn();
    const { world } = await aWorld();
    await createWorkspace(world, 'lab', { vms: [aMachine(world, 'vm', 'one')] });
    const { metadata } = await untilWorkspace(world, 'lab', 'Ready', 30_000);
    const trace = { workspace: { uid: metadata.uid }, images: [], machines: [] };
    const ofTraces = (ids: readonly string[]) => spans.filter((span) => ids.includes(span.spanContext().traceId));
    const doneBy = ({ attributes, name }: ReadableSpan) => `${attributes['ot.function']}: ${name}`;
    // What is seen of a status is ahead of the span it is written in.
    await vi.waitFor(() => {
      const life = ofTraces([spanContextOf(trace).traceId]);
      expect(life.map(doneBy)).toEqual(
        expect.arrayContaining([
          'compose-workspace: create Namespace',
          'compose-workspace: create VMDiskImage',
          'compose-workspace: create VirtualMachine',
          'compose-workspace: patchStatus Workspace',
        ]),
      );
      const last = life.findLast((span) => doneBy(span) === 'compose-workspace: patchStatus Workspace');
      expect(last?.attributes).toMatchObject({ 'ot.workspace.uid': metadata.uid, 'ot.workspace.phase': 'Ready' });
      expect(ofTraces(last ? tracesLinkedWith(last) : []).map(doneBy)).toEqual(
        expect.arrayContaining(['start-sync: create DataVolume', 'provision-vm: create VirtualMachine']),
      );
    });
  });
});

describe('the life of one image revision', { timeout: 60_000 }, () => {
  test('is one trace through start-sync, follow-sync and prune, linked with their reconciles, the pipeline and its machine', async () => {
    const spans = await spansFromNowOn();
    const { world, close } = await aWorld();
    await setPolicy(world, {
      imageStorageClass: 'gp3',
      imageSnapshotClass: 'ebs-snapshot',
      imageSecretRef: 's3-reader',
    });
    const pipeline = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
    const answer = await postWithFetch(world.broker, {
      traceparent: `00-${pipeline.traceId}-${pipeline.spanId}-01`,
      data: {
        name: 'one',
        url: `${world.store.url}/images/one.qcow2?${signature}=1`,
        diskSize: '64Mi',
        digest: 'sha256:1',
      },
    });
    expect(answer).toBe(202);
    const { metadata, status } = await untilPhase(world, 'one', 'Succeeded');
    await createMachine(world, 'vm', 'one', { users: [{ name: 'demo', plain_text_passwd: password }] });
    const machine = await untilMachine(world, 'vm', 'Ready', 30_000);
    await world.kube.delete(VirtualMachine, { namespace: world.namespace, name: 'vm' });
    await untilGone(world, VirtualMachine, { namespace: world.namespace, name: 'vm' });
    await world.kube.delete(VMDiskImage, { namespace: world.namespace, name: 'one' });
    await untilGone(world, VMDiskImage, { namespace: world.namespace, name: 'one' });
    ends.splice(ends.indexOf(close), 1);
    await close();

    const { traceId } = spanContextOf({ uid: metadata.uid, revision: status?.revision ?? 0 });
    const ofLife = spans.filter((span) => span.spanContext().traceId === traceId);
    // What was measured belongs to no one step, and so to no reconcile.
    const isDuration = ({ name }: ReadableSpan) => name.startsWith('ot.');
    expect([...new Set(ofLife.filter(isDuration).map(({ name }) => name))].sort()).toEqual([
      'ot.image.queue.wait.duration',
      'ot.image.ready.duration',
      'ot.image.sync.duration',
    ]);
    const life = ofLife.filter((span) => !isDuration(span));
    const steps = life.map(
      ({ name, attributes }) => `${attributes['ot.function']}: ${name} ${attributes['ot.image.phase']}`,
    );
    expect(steps).toEqual(
      expect.arrayContaining([
        'start-sync: patchStatus VMDiskImage Queued',
        'start-sync: patchStatus VMDiskImage Syncing',
        'start-sync: create DataVolume Syncing',
        'follow-sync: patchStatus VMDiskImage Snapshotting',
        'follow-sync: create VolumeSnapshot Snapshotting',
        'follow-sync: patchStatus VMDiskImage Succeeded',
        'prune: delete VolumeSnapshot Succeeded',
        'prune: patchMetadata VMDiskImage Succeeded',
      ]),
    );
    // Who uses an image is counted also before anybody has given it a phase.
    const moving = life.filter(({ attributes }) => attributes['ot.function'] !== 'count-refs');
    expect(moving.every(({ attributes }) => attributes['ot.function'] && attributes['ot.image.phase'])).toBe(true);

    const ofMachine = spanContextOf({ machine: { uid: machine.metadata.uid } }).traceId;
    const machineLife = spans.filter((span) => span.spanContext().traceId === ofMachine);
    const doneBy = new Set(machineLife.map(({ attributes }) => attributes['ot.function']));
    expect([...doneBy].sort()).toEqual(['count-refs', 'ensure-vmdi', 'provision-vm']);
    for (const { links, attributes } of machineLife) {
      expect(attributes['ot.machine.uid']).toBe(machine.metadata.uid);
      expect(links.map(({ context }) => context.traceId)).toContain(traceId);
    }

    const reconciles = new Map(
      spans.filter(({ name }) => name.endsWith(' reconcile')).map((span) => [span.spanContext().spanId, span]),
    );
    for (const step of life) {
      const reconcile = reconciles.get(step.links[0]?.context.spanId ?? '');
      expect(reconcile?.name).toBe(`${step.attributes['ot.function']} reconcile`);
      // A reconcile that a domain event of the image woke has that as a link, too.
      expect(reconcile?.links.map(({ context }) => context.traceId)).toContain(traceId);
      expect(reconcile?.spanContext().traceId).not.toBe(traceId);
    }
    const preload = [...reconciles.values()].find(
      ({ name, links }) => name === 'preload reconcile' && links.length > 0,
    );
    expect(preload?.links.map(({ context }) => context)).toMatchObject([pipeline]);

    const answers = JSON.stringify(
      spans.map(({ name, attributes, events, status: ended, resource }) => [
        name,
        attributes,
        events,
        ended,
        resource.attributes,
      ]),
    );
    for (const secret of [signature, password, keys.secretKey, btoa(keys.secretKey), 'http://', '?'])
      expect(answers).not.toContain(secret);
  });

  test('is not reported at all, and costs no server, without telemetry', async () => {
    const { metricsUrl } = await aWorld();
    expect(metricsUrl).toBeUndefined();
    expect(api.getMeter('any')).toBe(createNoopMeter());
  });
});
