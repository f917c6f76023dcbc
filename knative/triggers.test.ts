import { expect, test } from 'vitest';
import { z } from 'zod';
import { type FunctionDeclaration, on, type Subscription } from '../shared/function.ts';
import { defineResource } from '../shared/kinds/resource.ts';
import { publicBroker } from '../shared/operator.ts';
import { brokerManifests } from './broker.ts';
import { triggerManifests } from './triggers.ts';

const aFunction = (name: string, subscriptions: readonly Subscription[]): FunctionDeclaration => ({
  name,
  system: 'images',
  on: subscriptions,
  may: [],
  scale: 'zero',
  observe: async () => [],
  decide: () => [],
});
const deadLetters = aFunction('dead-letters', [on.deadLetter()]);
const paint = aFunction('paint', [on.event('paint.wanted.v1', z.object({})), on.sweep()]);

const ref = { apiVersion: 'v1', kind: 'Service', name: 'dead-letters' };

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
  const [trigger] = triggerManifests([aFunction('count', [on.cameOrWent(Widget, { source: 'pelotech' })])]);
  const widget = { apiversion: 'demo.example.com/v1', kind: 'Widget' };
  const any = ['add', 'delete'].map((verb) => ({ exact: { ...widget, type: `dev.knative.apiserver.ref.${verb}` } }));
  expect(trigger).toMatchObject({ spec: { filters: [{ any }] } });
});
