import { expect, test } from 'vitest';
import { timerSpacing } from '../../deploy/image/run.ts';
import { timerAttributes } from '../../shared/event-filter.ts';
import { type Batch, defineFunction, on, type Subject } from '../../shared/function.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { policyName, policyRef } from '../../shared/policy.ts';
import { serve } from '../../shared/runtime/http.ts';
import { telemetryOf } from '../../shared/runtime/telemetry/telemetry.ts';
import { memoryKube } from '../support/harness/memory-kube.ts';

const minutes = 60_000;

/** A function whose audits are counted; `fail` makes the next fail. A sender reaches it so through a Broker that asks for no token. */
async function reachable() {
  const walks: string[] = [];
  const batches: Batch[] = [];
  const state = { nowMs: 0, fails: false };
  const declaration = defineFunction({
    name: 'walk-all',
    system: 'images',
    on: [on.sweep(), on.audit(), on.changed(ConfigMap, { source: 'own', name: policyName })],
    may: [],
    scale: 'zero',
    audit: async function* (): AsyncGenerator<Subject[]> {
      walks.push('audit');
      if (state.fails) throw new Error('unavailable');
      yield [];
    },
    observe: async (_, batch) => {
      batches.push(batch);
      return [];
    },
    decide: () => [],
  });
  const kube = memoryKube();
  await kube.create(ConfigMap, { metadata: policyRef, data: { concurrency: '4' } });
  const { app, drain } = serve(declaration, {
    kube,
    telemetry: telemetryOf('walk-all'),
    now: () => state.nowMs,
    pause: async () => undefined,
    random: () => 0,
    publisher: { publish: () => undefined, republish: () => undefined },
    timerSpacing,
  });
  const post = async (attributes: Record<string, string>) => {
    const all = { specversion: '1.0', id: crypto.randomUUID(), ...attributes };
    const headers = Object.entries(all).map(([key, value]): [string, string] => [`ce-${key}`, value]);
    const { status } = await app.request('/', { method: 'POST', headers, body: '{}' });
    await drain();
    return status;
  };
  const edit = {
    type: 'dev.knative.apiserver.ref.update',
    source: '/test',
    ...{ apiversion: 'v1', kind: 'ConfigMap', namespace: policyRef.namespace, name: policyName },
  };
  const sweeps = () => batches.filter(({ sweep }) => sweep).length;
  return { kube, post, state, walks, sweeps, edit };
}

// Gained: load at will: each forged audit has a function read every object of the cluster that it knows.
test('a thousand forged audits in a minute cost one', async () => {
  const { post, state, walks } = await reachable();
  for (let second = 0; second < 60; second += 0.06) {
    state.nowMs = second * 1000;
    expect(await post(timerAttributes('audit'))).toBe(202);
  }
  expect(walks).toHaveLength(1);
});

test('a thousand forged sweeps in a minute cost twelve', async () => {
  const { post, state, sweeps } = await reachable();
  for (let second = 0; second < 60; second += 0.06) {
    state.nowMs = second * 1000;
    expect(await post(timerAttributes('sweep'))).toBe(202);
  }
  expect(sweeps()).toBe(12);
});

test('a thousand forged edits of the policy cost one walk, and a true one another', async () => {
  const { kube, post, walks, edit } = await reachable();
  for (let times = 0; times < 1000; times++) expect(await post(edit)).toBe(202);
  expect(walks).toHaveLength(1);
  await kube.patch(ConfigMap, policyRef, { data: { concurrency: '8' } });
  await post(edit);
  expect(walks).toHaveLength(2);
});

test('forged timers keep no true one away for longer than the spacing', async () => {
  const { post, state, walks } = await reachable();
  await post(timerAttributes('audit'));
  state.nowMs = 1 * minutes;
  await post(timerAttributes('audit'));
  expect(walks).toHaveLength(2);
});

test('an audit that failed is served again when it is redelivered', async () => {
  const { post, state, walks } = await reachable();
  state.fails = true;
  expect(await post(timerAttributes('audit'))).toBe(503);
  state.fails = false;
  expect(await post(timerAttributes('audit'))).toBe(202);
  expect(walks).toHaveLength(2);
});
