import { expect, test } from 'vitest';
import { contains } from './contains.ts';

test.each<[string, unknown, unknown]>([
  ['0.7 of a core, kept as 700m', { limits: { cpu: '700m' } }, { limits: { cpu: '0.7' } }],
  ['1.4 of a core, kept as 1400m', { requests: { cpu: '1400m' } }, { requests: { cpu: '1.4' } }],
  ['2048Mi, kept as 2Gi', { limits: { memory: '2Gi' } }, { limits: { memory: '2048Mi' } }],
  ['an empty list that was left out', {}, { ingress: [] }],
  ['an empty list', { ingress: [] }, { ingress: [] }],
  ['a field that says no and was left out', { containers: [{}] }, { containers: [{ securityContext: { on: false } }] }],
])('%s is as wanted', (_, found, wanted) => {
  expect(contains(found, wanted)).toBe(true);
});

test.each<[string, unknown, unknown]>([
  ['another amount', { limits: { cpu: '701m' } }, { limits: { cpu: '0.7' } }],
  ['an entry in a list that is to be empty', { ingress: [{}] }, { ingress: [] }],
  ['a yes for a no', { hostNetwork: true }, { hostNetwork: false }],
  ['a no that was left out and then means yes', {}, { allowPrivilegeEscalation: false }],
])('%s is a difference', (_, found, wanted) => {
  expect(contains(found, wanted)).toBe(false);
});

test('of what chooses objects one word more is another choice', () => {
  const wanted = { selector: { app: 'a' }, podSelector: {}, nodeSelector: {} };
  expect(contains({ selector: { app: 'a' } }, wanted)).toBe(true);
  expect(contains({ selector: { app: 'a', x: 'y' } }, wanted)).toBe(false);
  expect(contains({ selector: { app: 'a' }, podSelector: { matchLabels: { never: 'here' } } }, wanted)).toBe(false);
  expect(contains({ selector: { app: 'a' }, nodeSelector: { disk: 'ssd' } }, wanted)).toBe(false);
});
