import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { documents } from '../manifests.ts';
import { parseConfig } from './config.ts';

const rule = { name: 'labs', claims: { repository: 'labs/images' }, images: 'lab-*' };
const issuer = { name: 'github', issuer: 'https://ci.example', audience: 'ot-preload', rules: [rule] };
const parse = (config: unknown) => parseConfig(JSON.stringify(config));
const withIssuer = (more: object) => () => parse({ issuers: [{ ...issuer, ...more }] });
const withRule = (more: object) => withIssuer({ rules: [{ ...rule, ...more }] });

test('a short configuration gets the careful defaults', () => {
  expect(parse({ issuers: [issuer] })).toEqual({
    requestsPerMinute: 60,
    issuers: [
      {
        ...issuer,
        algorithms: ['RS256', 'ES256'],
        rules: [
          {
            name: 'labs',
            claims: { repository: ['labs/images'] },
            types: ['ot.pelotech.image.published.v1'],
            images: ['lab-*'],
            namespaces: [],
          },
        ],
      },
    ],
  });
});

test('numbers and truth values of claims are compared as text', () => {
  const { issuers } = withRule({ claims: { project_id: 42, ref_protected: true, ref_type: ['tag', 'branch'] } })();
  expect(issuers[0]?.rules[0]?.claims).toEqual({
    project_id: ['42'],
    ref_protected: ['true'],
    ref_type: ['tag', 'branch'],
  });
});

test.each([
  ['an issuer over plain HTTP', withIssuer({ issuer: 'http://ci.example' }), 'https://'],
  ['keys over plain HTTP', withIssuer({ jwksUri: 'http://ci.example/keys' }), 'https://'],
  ['an issuer with a password in it', withIssuer({ issuer: 'https://u:p@ci.example' }), 'https://'],
  ['tokens without a signature', withIssuer({ algorithms: ['none'] }), 'algorithms'],
  ['tokens signed with a shared secret', withIssuer({ algorithms: ['HS256'] }), 'algorithms'],
  ['a rule for everyone: no claims', withRule({ claims: {} }), 'whose pipeline'],
  ['a rule for everyone: only a ref', withRule({ claims: { ref: 'refs/heads/main' } }), 'whose pipeline'],
  ['a rule for everyone: any repository', withRule({ claims: { repository: '*/images' } }), 'whose pipeline'],
  [
    'a rule for everyone: any owner in a subject',
    withRule({ claims: { sub: 'repo:*/images:ref:refs/heads/main' } }),
    'whose',
  ],
  ['a rule for too many: owners of a like name', withRule({ claims: { repository_owner: 'lab*' } }), 'whose'],
  ['a rule for everyone: one of several is any', withRule({ claims: { sub: ['repo:labs/images', '**'] } }), 'whose'],
  ['a rule without images', withRule({ images: undefined }), 'images'],
  ['an event that has no schema', withRule({ types: ['dev.knative.apiserver.ref.add'] }), 'types'],
  ['an unknown key', withRule({ repository: 'labs/images' }), 'repository'],
  ['no audience', withIssuer({ audience: '' }), 'audience'],
  ['the same issuer twice', () => parse({ issuers: [issuer, { ...issuer, name: 'again' }] }), 'each issuer once'],
  ['nothing', () => parseConfig(''), 'the file'],
  ['no YAML', () => parseConfig('issuers: ['), 'expected a configuration'],
])('%s is refused', (_, parsing, fault) => {
  expect(parsing).toThrow(fault);
});

test('the configuration that is shipped parses', async () => {
  const text = await readFile(new URL('../production/oidc/gateway/config.yaml', import.meta.url), 'utf8');
  const found = documents(text).find(({ kind }) => kind === 'ConfigMap') as unknown as { data: Record<string, string> };
  expect(parseConfig(found.data['gateway.yaml'] ?? '').issuers.map(({ name }) => name)).toEqual(['github', 'gitlab']);
});
