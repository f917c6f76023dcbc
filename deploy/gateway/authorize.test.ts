import { expect, test } from 'vitest';
import { ruleAllowing, rulesFor } from './authorize.ts';
import { parseConfig } from './config.ts';

const [issuer] = parseConfig(`
issuers:
  - name: github
    issuer: https://ci.example
    audience: ot-preload
    rules:
      - { name: tags, claims: { repository: labs/images, ref: refs/tags/v* }, images: lab-*, namespaces: [vmdi-farm] }
      - { name: main, claims: { repository: labs/images, ref: refs/heads/main }, images: [nightly, "edge-*"] }
`).issuers;
if (!issuer) throw new Error('expected an issuer');

const tagged = { repository: 'labs/images', ref: 'refs/tags/v1' };
const type = 'ot.pelotech.image.published.v1';

test('all claims of a rule have to fit', () => {
  expect(rulesFor(issuer, tagged).map(({ name }) => name)).toEqual(['tags']);
  expect(rulesFor(issuer, { ...tagged, ref: 'refs/heads/main' }).map(({ name }) => name)).toEqual(['main']);
});

test('who is named by a rule hears what else it asks for', () => {
  const { ref: _, ...noRef } = tagged;
  for (const claims of [{ ...tagged, ref: 'refs/heads/x' }, { ...tagged, ref: ['refs/tags/v1'] }, noRef]) {
    expect(() => rulesFor(issuer, claims)).toThrow('expected a token with ref refs/tags/v*');
  }
});

test('who is named by none hears no name of others', () => {
  expect(() => rulesFor(issuer, { ...tagged, repository: 'evil/images' })).toThrow(
    'expected a token with claims that a rule of the issuer github names; the admin of the gateway adds them',
  );
});

test.each([
  [{ name: 'lab-1' }, true],
  [{ name: 'lab-1', namespace: 'vmdi-farm' }, true],
  [{ name: 'lab-1', namespace: 'kube-system' }, false],
  [{ name: 'nightly' }, false],
])('a rule allows its images in its namespaces only: %j', (data, isAllowed) => {
  const allowing = () => ruleAllowing(rulesFor(issuer, tagged), type, data).name;
  if (isAllowed) expect(allowing()).toBe('tags');
  else expect(allowing).toThrow('named lab-* with the namespace vmdi-farm or none');
});

test('a rule without namespaces lets an event name none', () => {
  const rules = rulesFor(issuer, { ...tagged, ref: 'refs/heads/main' });
  expect(ruleAllowing(rules, type, { name: 'edge-7' }).name).toBe('main');
  expect(() => ruleAllowing(rules, type, { name: 'edge-7', namespace: 'vmdi-farm' })).toThrow('with no namespace');
});
