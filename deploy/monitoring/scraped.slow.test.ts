import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { createMachine, untilMachine } from '../../test/stories/machines.ts';
import * as openStackWorld from '../../test/stories/openstack/world.ts';
import { postWithFetch } from '../../test/stories/preload.ts';
import { dropsAllButTimers } from '../../test/stories/subscriptions.ts';
import { aMachine, createWorkspace, untilWorkspace } from '../../test/stories/workspaces.ts';
import { createImage, setPolicy, untilGone, untilPhase, type World } from '../../test/stories/world.ts';
import { findPrometheus, type Prometheus, startPrometheus } from '../../test/support/tools/prometheus/prometheus.ts';
import { realClock } from '../local/clock.ts';
import { startObjectStore } from '../local/object-store/object-store.ts';
import { qcow2Buffer } from '../local/object-store/qcow2.ts';
import { giveAccount } from '../local/openstack/account.ts';
import { startOpenStack } from '../local/openstack/start-openstack.ts';
import { type LocalCluster, type LocalOptions, startLocal } from '../local/start.ts';
import { alerts } from './alerts.ts';
import { dashboards } from './files.ts';
import { recordings } from './recordings.ts';
import { ruleGroups } from './rules.ts';

const { path: bin, missing } = await findPrometheus();
if (missing) console.log(`skipped: dashboards are tried only with Prometheus: ${missing}`);

/** What Grafana would put in the place of its variables. */
const filledIn = (expr: string) =>
  expr.replaceAll('$namespace', operatorNamespace).replaceAll('$__range_s', '300').replaceAll('$__range', '5m');

const queries = dashboards.flatMap(({ title, rows }) =>
  rows.flatMap(({ panels }) =>
    panels.flatMap(({ title: panel, queries: all }) =>
      all.map(({ expr, legend }) => ({
        what: [title, panel, legend].filter(Boolean).join(' / '),
        expr: filledIn(expr),
      })),
    ),
  ),
);

const keys = { accessKeyId: 'reader', secretKey: 'a-secret-of-the-dashboards-test' };
const namespace = 'vmdi-farm';

/** Answers start-sync's first write of the Lease and of a status as if someone else had been faster. */
function rivals(): NonNullable<LocalOptions['intercept']> {
  const left = new Set([/^PUT .*\/leases\/sync-slots/, /^PATCH .*\/vmdiskimages\/.*\/status/]);
  return ({ method, path, user }) => {
    const hit = [...left].find((pattern) => user.endsWith(':start-sync') && pattern.test(`${method} ${path}`));
    return hit && left.delete(hit) ? { status: 409 } : undefined;
  };
}

describe.skipIf(!bin)('a Prometheus that scrapes a cluster at work', { timeout: 60_000 }, () => {
  let cluster: LocalCluster;
  let prometheus: Prometheus;
  const ends: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  beforeAll(async () => {
    const store = await startObjectStore({ keys: [keys] });
    ends.push(store.close);
    let bytesSent = 0;
    store.onBytes((_, bytes) => {
      bytesSent += bytes;
    });
    const openStack = await startOpenStack({ clock: realClock });
    ends.push(openStack.close);
    cluster = await startLocal({
      openStack: true,
      schedules: { sweep: '* * * * * *', audit: '* * * * * *' },
      gracePeriodMs: 0,
      intercept: rivals(),
      metricsPort: 0,
      bytesSent: () => bytesSent,
    });
    ends.push(cluster.close);
    prometheus = await startPrometheus({
      bin,
      scrapes: cluster.metricsUrl ?? '',
      labels: { namespace: operatorNamespace },
      groups: ruleGroups(alerts, recordings),
    });
    ends.push(prometheus.close);
    const { kube, broker } = cluster;
    const world = { kube, broker, store, namespace } as unknown as World;
    await kube.create(Namespace, { metadata: { name: namespace } }).catch(() => undefined);
    const data = { accessKeyId: btoa(keys.accessKeyId), secretKey: btoa(keys.secretKey) };
    await kube.create(Secret, { metadata: { name: 's3-reader', namespace }, data });
    const work = async () => {
      await store.put(
        'images',
        'one.qcow2',
        qcow2Buffer({ virtualBytes: 32 << 20, dataBytes: 256 << 10, seed: 'one' }),
      );
      await setPolicy(world, {
        allowedSources: `${store.url}/** s3-reader`,
        concurrency: '2',
        retryBackoffDuration: '200ms',
        // Attempts are to fail.
        inspectTimeout: '0s',
        egressBudget: '1Ti/30d',
      });
      store.faults.push({ match: 'one.qcow2', mode: 'cutAt', fraction: 0.5, times: 1 });
      for (const name of ['one', 'lost', 'gone']) await createImage(world, name);
      await untilPhase(world, 'one', 'Succeeded', 30_000);
      await untilPhase(world, 'lost', 'Failed', 30_000);
      // Only of a machine whose guest is asked there is a time until it answers.
      await createMachine(world, 'vm', 'one', {
        readiness: { guestAgent: true, timeout: '5m', failureThreshold: 3, onFailure: 'Report' },
      });
      await createMachine(world, 'intruder', 'one', { interfaces: [{ network: 'elsewhere/net' }] });
      await createWorkspace(world, 'lab', { vms: [aMachine(world, 'vm', 'one')] });
      await kube.delete(VMDiskImage, { namespace, name: 'gone' });
      await untilGone(world, VMDiskImage, { namespace, name: 'gone' });
      await postWithFetch(broker, { data: {} });
      await untilMachine(world, 'vm', 'Ready', 30_000);
      await untilWorkspace(world, 'lab', 'Ready', 30_000);
      cluster.eventing.inject(dropsAllButTimers.faults ?? {});
      await setPolicy(world, { concurrency: '6' });
      const unheard = Array.from({ length: 6 }, (_, index) => `unheard-${index}`);
      for (const name of unheard) await createImage(world, name, { url: `${store.url}/images/one.qcow2` });
      for (const name of unheard) await untilPhase(world, name, 'Succeeded', 30_000);
      await setPolicy(world, { concurrency: 'many' });
    };
    const workOnOpenStack = async () => {
      const there = { kube, namespace: 'default' } as Parameters<typeof openStackWorld.createNetwork>[0];
      await giveAccount(kube, { authUrl: openStack.authUrl, ...openStack.admin });
      await openStackWorld.createNetwork(there, 'net');
      await openStackWorld.untilSo(there, VirtualNetwork, 'net', ({ status }) => status?.phase === 'Available');
    };
    await Promise.all([work(), workOnOpenStack()]);
  }, 60_000);

  // Subqueries look at whole minutes only, and all of this may lie between two of them.
  const nextMinute = () => ({ time: Math.ceil(Date.now() / 60_000) * 60 });

  test.each(queries)('has data for $what', async ({ expr }) => {
    await vi.waitFor(
      async () => {
        const values = (await prometheus.query(expr, nextMinute())).map(({ value }) => value);
        expect(values.some(Number.isFinite), `${expr}: ${values.join() || 'nothing'}`).toBe(true);
      },
      { timeout: 15_000, interval: 500 },
    );
  });

  test.each(recordings)('has data for $record', async ({ record }) => {
    await vi.waitFor(async () => expect(await prometheus.query(record)).not.toEqual([]), {
      timeout: 15_000,
      interval: 500,
    });
  });

  test('works every rule out without an error', async () => {
    const rules = await prometheus.rules();
    const wanted = [...recordings.map(({ record }) => record), ...alerts.map(({ name }) => name)];
    expect(rules.map(({ name }) => name).sort()).toEqual(wanted.sort());
    expect(rules.filter(({ lastError }) => lastError)).toEqual([]);
  });

  test('sees the cause of each alert that has one, and of no other', async () => {
    await vi.waitFor(
      async () => {
        const rules = await prometheus.rules();
        const raised = rules.filter(({ state = 'inactive' }) => state !== 'inactive').map(({ name }) => name);
        expect(raised).toEqual([
          'OtPolicyInvalid',
          'OtImageFailed',
          'OtEventsMissed',
          'OtDeadLetters',
          'OtMachinesFailed',
        ]);
      },
      { timeout: 15_000, interval: 500 },
    );
  });
});
