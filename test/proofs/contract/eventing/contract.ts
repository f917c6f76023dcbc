import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject, Resource } from '../../../../shared/kinds/resource.ts';
import { type DeliveryCase, deliveryCases } from './delivery-cases.ts';
import {
  behaveAsCasesSay,
  brokersOfCases,
  comparableLetter,
  type Delivered,
  letterBody,
  letterHeaders,
  replyHeaders,
  runDeliveries,
  triggersOfCases,
} from './delivery-run.ts';
import { comparable, type EventHeaders } from './event.ts';
import { filterCases, offered } from './filter-cases.ts';
import { ingressCases } from './ingress-cases.ts';
import { allReady, Broker, Trigger } from './objects.ts';
import { passageCases } from './passage-cases.ts';
import { settle } from './settle.ts';
import { pingCases, type SourceCase, sourceCases, type Told } from './source-cases.ts';
import { brokeredParts, functionOf, makeKinds, makeSources, removeKinds, takeSteps } from './sources-run.ts';
import { filled, isProbe, postTo, type World } from './world.ts';

/**
 * Declares the contract of eventing as tests against one cluster. With `isLocal` a case with a known deviation has to
 * fail, so that a deviation that is no more shows.
 */
export function eventingContract(open: () => Promise<World>, { isLocal }: { isLocal: boolean }): void {
  const testOf = ({ deviation }: { deviation?: string }) => (isLocal && deviation ? test.fails : test);
  let world: World;
  let deliveries: Map<DeliveryCase, Promise<Delivered>>;
  let told: Promise<(source: SourceCase, kind: 'Widget' | 'ClusterWidget') => Told[]>;
  let offeredAll: Promise<unknown>;

  beforeAll(async () => {
    world = await open();
    await makeAll(world, isLocal);
    // All begin at once, for most of each is waiting; every test waits for its own.
    told = calm(takeSteps(world));
    deliveries = runDeliveries(world);
    offeredAll = calm(offerAll(world));
  }, 300_000);
  afterAll(async () => {
    await removeKinds(world);
    await world.close();
  }, 60_000);

  describe('the ingress answers', () => {
    for (const each of ingressCases) {
      testOf(each)(`${each.status} to ${each.what}`, async () => {
        const { path = '/{ns}/empty', method = 'POST', headers = {}, body, status, answer = {} } = each;
        const init = { method, headers, ...(body === undefined ? {} : { body }) };
        const response = await fetch(world.ingress + path.replace('{ns}', world.namespace), init);
        expect(response.status).toBe(status);
        expect(await response.text()).toBe('');
        expect(Object.fromEntries(response.headers)).toMatchObject(answer);
      });
    }
  });

  describe('a Trigger lets through what it should with', () => {
    for (const [index, each] of filterCases.entries()) {
      testOf(each)(each.what, async () => {
        await offeredAll;
        const seen = world.functions.callsOf(filterName(index)).filter(({ headers }) => !isProbe(headers));
        const types = seen.map(({ headers }) => identityOf(headers));
        expect(types.sort()).toEqual(each.passes.map((name) => identityOf(offered[name])).sort());
      });
    }
  });

  describe('on the way through a Broker', () => {
    for (const [index, { what, sent, got }] of passageCases.entries()) {
      test(what, async () => {
        const names = { type: passageType(index), ns: world.namespace };
        const response = await postTo(world, 'passages', filled(sent, names));
        expect(response.status).toBe(202);
        const calls = world.functions.callsOf(`passages/${passageType(index)}`);
        const found = calls.map(({ headers, body }) => ({ headers: comparable(headers), body }));
        expect(found).toEqual([filled(got, names)]);
      });
    }
  });

  describe('in a delivery', () => {
    for (const each of deliveryCases) {
      test(each.what, async () => {
        const delivered = await deliveries.get(each);
        if (!delivered) throw new Error(`expected ${each.what} to have been started`);
        expectDelivered(world, each, delivered);
      });
    }
  });

  describe('an ApiServerSource', () => {
    for (const each of sourceCases) {
      test(each.what, async () => {
        const of = await told;
        for (const kind of ['Widget', 'ClusterWidget'] as const) {
          const expected = filled(each.tells[kind] ?? [], { ns: world.namespace, other: world.otherNamespace });
          const found = of(each, kind);
          expect(found.map(({ headers }) => headers)).toEqual(expected.map(({ headers }) => headers));
          const isWhole = each.spec.mode === 'Resource';
          for (const [index, { body }] of expected.entries()) {
            if (isWhole) expect(found[index]?.body).toMatchObject({ ...wholeObject, ...(body as object) });
            else expect(found[index]?.body).toEqual(body);
          }
        }
      });
    }
  });

  describe('a PingSource', () => {
    for (const { name, what, tells } of pingCases) {
      test(what, async () => {
        const [call] = await world.functions.until(functionOf(name), ({ length }) => length > 0);
        const found = call && { headers: comparable(call.headers), body: call.body };
        expect(found).toEqual(filled(tells, { ns: world.namespace }));
      });
    }
  });
}

/** With 202 every Trigger has had the event, or did not want it. */
async function offerAll(world: World) {
  const answers = Object.values(offered).map((headers) => postTo(world, 'filters', { headers }));
  for (const { status } of await Promise.all(answers)) expect(status).toBe(202);
}

const wholeObject = { apiVersion: expect.any(String), kind: expect.any(String) };

/** Keeps a failure for its later awaiter, so that it is no unhandled rejection. */
function calm<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

const filterName = (index: number) => `filter-${index}`;
const passageType = (index: number) => `passage-${index}`;
const identityOf = (headers: EventHeaders) => `${headers['ce-type']} ${headers['ce-kind'] ?? ''}`;

function expectDelivered(world: World, each: DeliveryCase, { sender, calls, of, lettersOfBroker }: Delivered) {
  expect({ sender, calls: calls.length }).toEqual({ sender: each.sender, calls: each.calls });
  expect([...new Set(calls.map(({ headers }) => headers['ce-id']))]).toEqual(calls.length > 0 ? ['one'] : []);
  const pauses = calls.slice(1).map(({ atMs }, index) => atMs - (calls[index]?.atMs ?? 0));
  for (const [index, leastMs] of (each.pausesMs ?? []).entries()) {
    // Two clocks tick in milliseconds here, Go's and Node's.
    expect(pauses[index], `pause ${index + 1} of ${pauses}`).toBeGreaterThanOrEqual(leastMs - 2);
  }
  if (each.pausesBelowMs) expect(Math.max(...pauses)).toBeLessThan(each.pausesBelowMs);
  if (each.hungUp) expect(calls.every(({ hungUpAtMs }) => hungUpAtMs !== undefined)).toBe(true);
  for (const [role, count] of Object.entries(each.calledToo ?? {})) {
    expect(of(role as 'second'), role).toHaveLength(count);
  }
  for (const { headers } of [...of('second'), ...of('third')]) {
    expect(comparable(headers)).toEqual(replyHeaders(world, each));
  }
  if (each.methods) expect(of('target').map(({ method }) => method)).toEqual(each.methods);
  const { letter } = each;
  if (!letter) return;
  const letters = letter.to === 'broker' ? lettersOfBroker : of('letters');
  const found = letters.map((call) => ({ headers: comparableLetter(world, call), body: call.body }));
  expect(found).toEqual([{ headers: letterHeaders(world, each, letter), body: letterBody }]);
}

async function makeAll(world: World, isLocal: boolean) {
  const { kube, namespace, functions } = world;
  const create = (resource: Resource, { metadata, ...rest }: { metadata: { name: string }; spec?: object }) =>
    kube.create<KubernetesObject>(resource, { metadata: { ...metadata, namespace }, ...rest });
  behaveAsCasesSay(world);
  await makeKinds(world);
  const parts = brokeredParts(world);
  const plain = ['empty', 'filters', 'passages'].map((name) => ({ metadata: { name }, spec: {} }));
  const all = [...plain, ...brokersOfCases(world), parts.broker];
  for (const broker of all) await create(Broker, broker);
  await makeSources(world);
  const uri = functions.urlOf;
  const triggers = [
    ...parts.triggers,
    ...filterCases.flatMap(({ spec, deviation }, index) => {
      const trigger = { broker: 'filters', subscriber: { uri: uri(filterName(index)) }, ...spec };
      return isLocal && deviation ? [] : [{ metadata: { name: filterName(index) }, spec: trigger }];
    }),
    { metadata: { name: 'passages' }, spec: { broker: 'passages', subscriber: { uri: uri('passages/') } } },
    ...triggersOfCases(world),
  ];
  for (const trigger of triggers) await create(Trigger, trigger);
  await Promise.all([allReady(kube, Broker, namespace), allReady(kube, Trigger, namespace)]);
  const names = all.map(({ metadata }) => metadata.name);
  await settle(
    world,
    names.filter((name) => name !== 'empty'),
  );
  await create(Broker, unreadyBroker);
}

/** Its channel is described by a ConfigMap that is not there. */
const unreadyBroker = {
  metadata: { name: 'unready' },
  spec: { config: { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', namespace: 'knative-eventing' } },
};
