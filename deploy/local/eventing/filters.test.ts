import { describe, expect, test } from 'vitest';
import type { Event } from './event.ts';
import { matches, refusedFilter } from './filters.ts';
import { Trigger } from './resources.ts';

const event: Event = {
  attributes: { type: 'made.v1', source: '/here', kind: 'Widget', name: 'w1', namespace: '' },
  contentType: 'application/json',
  data: new Uint8Array(),
};
const subscriber = { uri: 'http://sink/' };
const isWanted = (spec: object) =>
  matches(
    Trigger.parse({
      apiVersion: 'eventing.knative.dev/v1',
      kind: 'Trigger',
      metadata: { name: 't' },
      spec: { subscriber, ...spec },
    }).spec,
    event,
  );

describe('a Trigger', () => {
  test.each([
    { what: 'no filter', spec: {}, wanted: true },
    { what: 'attributes that are all equal', spec: attributes({ kind: 'Widget', name: 'w1' }), wanted: true },
    { what: 'one attribute that differs', spec: attributes({ kind: 'Widget', name: 'w2' }), wanted: false },
    { what: 'a value in another case', spec: attributes({ kind: 'widget' }), wanted: false },
    { what: '"" of an existing attribute', spec: attributes({ name: '' }), wanted: true },
    { what: '"" of an attribute that is empty', spec: attributes({ namespace: '' }), wanted: false },
    { what: '"" of an attribute that is missing', spec: attributes({ subject: '' }), wanted: false },
    {
      what: 'filters beside a filter that refuses',
      spec: { ...attributes({ kind: 'Other' }), ...filters({ exact: { kind: 'Widget' } }) },
      wanted: true,
    },
    { what: 'exact with two attributes', spec: filters({ exact: { kind: 'Widget', name: 'w2' } }), wanted: false },
    { what: 'a prefix', spec: filters({ prefix: { type: 'made.' } }), wanted: true },
    { what: 'another prefix', spec: filters({ prefix: { type: 'v1' } }), wanted: false },
    { what: 'a suffix', spec: filters({ suffix: { type: '.v1' } }), wanted: true },
    {
      what: 'two filters of which one refuses',
      spec: filters({ exact: { kind: 'Widget' } }, { exact: { name: 'w2' } }),
      wanted: false,
    },
    {
      what: 'any with a filter that passes',
      spec: filters({ any: [{ exact: { name: 'w2' } }, { exact: { name: 'w1' } }] }),
      wanted: true,
    },
    {
      what: 'all with a filter that refuses',
      spec: filters({ all: [{ exact: { name: 'w2' } }, { exact: { kind: 'Widget' } }] }),
      wanted: false,
    },
    { what: 'not of what is so', spec: filters({ not: { exact: { name: 'w1' } } }), wanted: false },
    { what: 'not of a missing attribute', spec: filters({ not: { exact: { subject: 'x' } } }), wanted: true },
    { what: 'exact "" which Knative leaves out', spec: filters({ exact: { type: '' } }), wanted: true },
    {
      what: 'any with "" and a filter that refuses',
      spec: filters({ any: [{ exact: { type: '' } }, { exact: { name: 'w2' } }] }),
      wanted: false,
    },
  ])('with $what: wanted is $wanted', ({ spec, wanted }) => {
    expect(isWanted(spec)).toBe(wanted);
  });

  test('with cesql anywhere is refused, saying what to write instead', () => {
    expect(refusedFilter([{ any: [{ not: { cesql: "kind = 'Widget'" } }] }])).toMatch(/not supported.*exact/);
    expect(refusedFilter([{ exact: { kind: 'Widget' } }])).toBeUndefined();
  });
});

function attributes(wanted: Record<string, string>) {
  return { filter: { attributes: wanted } };
}
function filters(...list: object[]) {
  return { filters: list };
}
