import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { steppedClock } from '../deploy/local/clock.ts';
import type { Delivery } from '../deploy/local/eventing/resources.ts';
import { policyOf, sendWithRetries } from '../deploy/local/eventing/retries.ts';
import preload from '../functions/preload/index.ts';
import { type FunctionDeclaration, on } from '../shared/function.ts';
import { takenForMs } from '../shared/images/signature.ts';
import type { Trigger } from '../shared/kinds/eventing/trigger.ts';
import { defineResource } from '../shared/kinds/resource.ts';
import { publicBroker } from '../shared/operator.ts';
import { aFunction } from '../test/support/builders/functions.ts';
import { brokerManifests } from './broker.ts';
import { loadFunctions } from './functions.ts';
import { triggerManifests } from './triggers.ts';

const deadLetters = aFunction('dead-letters', [on.deadLetter()]);
const paint = aFunction('paint', [on.event('paint.wanted.v1', z.object({})), on.sweep()]);

const ref = { apiVersion: 'v1', kind: 'Service', name: 'dead-letters' };

/** Each event of a Broker passes each of its Triggers. Who changes a figure says why in the commit. */
const triggersOf = { default: 8, images: 2, inspection: 1, machines: 3, pruning: 1, workspaces: 1 };
const triggersWithOpenStack = { ...triggersOf, openstack: 5 };

describe('each Broker has the number of Triggers that stands here', () => {
  const countedOf = (functions: readonly FunctionDeclaration[]) =>
    countBy(triggerManifests(functions) as unknown as Trigger[], ({ spec }) => String(spec?.broker));

  test('in an installation without OpenStack', async () => {
    expect(countedOf(await loadFunctions())).toEqual(triggersOf);
  });

  test('in one with it', async () => {
    expect(countedOf(await loadFunctions({ openStack: true }))).toEqual(triggersWithOpenStack);
  });

  test('one more is noticed', async () => {
    const more = [...(await loadFunctions()), paint];
    expect(countedOf(more)).toEqual({ ...triggersOf, default: triggersOf.default + 1, images: triggersOf.images + 1 });
  });
});

const countBy = <T>(all: readonly T[], keyOf: (one: T) => string) =>
  Object.fromEntries([...Map.groupBy(all, keyOf)].map(([key, some]) => [key, some.length]));

test("a Trigger's dead letters go to a path that says whose they are; those of other Triggers to the Broker's sink", () => {
  expect(triggerManifests([deadLetters, paint])).toMatchObject([
    { metadata: { name: 'paint' }, spec: { delivery: { retry: 8, deadLetterSink: { ref, uri: '/paint' } } } },
    { metadata: { name: 'paint-images' }, spec: { delivery: { retry: 8, deadLetterSink: { ref, uri: '/paint' } } } },
  ]);
  const [broker] = brokerManifests([publicBroker], [deadLetters, paint]);
  expect(broker).toMatchObject({ spec: { delivery: { retry: 8, deadLetterSink: { ref } } } });
  expect(broker).not.toHaveProperty('spec.delivery.deadLetterSink.uri');
});

test('a function for dead letters has no Trigger, so that no letter makes another', () => {
  expect(triggerManifests([deadLetters])).toEqual([]);
});

test('a function that wants dead letters and more is refused', () => {
  const greedy = aFunction('dead-letters', [on.deadLetter(), on.sweep()]);
  expect(() => triggerManifests([greedy])).toThrow('dead-letters: expected on.deadLetter() alone, found 1 more');
});

test('a Trigger brings the beginning and the end of an object where its function wants nothing between', () => {
  const Widget = defineResource({ apiVersion: 'demo.example.com/v1', kind: 'Widget', plural: 'widgets' }, {});
  const [trigger] = triggerManifests([aFunction('count', [on.createdOrDeleted(Widget, { source: 'pelotech' })])]);
  const widget = { apiversion: 'demo.example.com/v1', kind: 'Widget' };
  const any = ['add', 'delete'].map((verb) => ({ exact: { ...widget, type: `dev.knative.apiserver.ref.${verb}` } }));
  expect(trigger).toMatchObject({ spec: { filters: [{ any }] } });
});

describe('a publication at a Broker, which no sweep finds again', () => {
  const [trigger] = triggerManifests([preload]) as unknown as { spec: { delivery: Delivery } }[];
  const { timeoutMs = 0, ...policy } = policyOf(trigger?.spec.delivery);
  const hours = (count: number) => count * 3_600_000;

  test('reaches preload within three minutes of its return, even if it was away for almost four hours', async () => {
    const awayMs = hours(3.9);
    const clock = steppedClock(0);
    const status = () => (clock.now() < awayMs ? 503 : 202);
    const send = async () => new Response(null, { status: status() });
    let isOver = false;
    const sent = sendWithRetries(send, policy, { clock, signal: new AbortController().signal }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await new Promise(setImmediate);
      clock.step(1000);
    }
    expect(await sent).toMatchObject({ response: { status: 202 } });
    expect(clock.now() - awayMs).toBeLessThan(180_000);
  });

  test('is given up before its signature is too old, even if each attempt is a timeout', () => {
    const pauses = Array.from({ length: policy.retry }, (_, failures) => policy.backoffMs(failures));
    const longestMs = pauses.reduce((sum, pause) => sum + pause, 0) + (policy.retry + 1) * timeoutMs;
    expect(longestMs).toBeLessThan(takenForMs);
    expect(longestMs).toBeGreaterThan(hours(4.4));
  });
});
