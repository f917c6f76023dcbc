import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { realClock } from '../clock.ts';
import { type ApiServer, startApiServer } from './api-server.ts';
import { clientOf } from './test-client.ts';

const path = '/apis/admissionregistration.k8s.io/v1';
const configMaps = '/api/v1/namespaces/default/configmaps';

let server: ApiServer;
let send: ReturnType<typeof clientOf>;
beforeEach(async () => {
  server = await startApiServer({ clock: realClock });
  send = clientOf(server);
});
afterEach(() => server.close());

const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] };
const aPolicy = (spec: object, name = 'fence') => ({
  metadata: { name },
  spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
});
const aBinding = (spec: object = {}, name = 'fence') => ({
  metadata: { name },
  spec: { policyName: 'fence', validationActions: ['Deny'], ...spec },
});
async function fence(spec: object, binding: object = {}) {
  const policy = await send(`POST ${path}/validatingadmissionpolicies`, aPolicy(spec));
  expect(policy.status, policy.body.message).toBe(201);
  expect((await send(`POST ${path}/validatingadmissionpolicybindings`, aBinding(binding))).status).toBe(201);
}
const make = (name: string, data: object = {}, headers = {}) =>
  send(`POST ${configMaps}`, { metadata: { name }, data }, headers);

// What a policy refuses, in which words, and which policies are refused: test/proofs/contract/cases-policy.ts.
describe('a policy that is bound', () => {
  test('may word its message by an expression, with variables', async () => {
    await fence({
      variables: [
        { name: 'size', expression: 'object.data.size()' },
        { name: 'left', expression: '2 - variables.size' },
      ],
      validations: [
        {
          expression: 'variables.left >= 0',
          messageExpression: "'too many by ' + string(-variables.left)",
          message: 'no',
        },
      ],
    });
    expect((await make('a', { a: '1' })).status).toBe(201);
    expect((await make('b', { a: '1', b: '2', c: '3' })).body.message).toContain('denied request: too many by 1');
  });

  test('holds for the kinds, operations, names and namespaces that it and its binding name', async () => {
    await send('POST /api/v1/namespaces', { metadata: { name: 'fenced', labels: { fence: 'yes' } } });
    const rules = [{ ...rule, operations: ['CREATE'], resourceNames: ['a'] }];
    await fence(
      { matchConstraints: { resourceRules: rules }, validations: [{ expression: 'false' }] },
      { matchResources: { namespaceSelector: { matchExpressions: [{ key: 'fence', operator: 'Exists' }] } } },
    );
    const inFenced = '/api/v1/namespaces/fenced/configmaps';
    expect((await make('a')).status).toBe(201);
    expect((await send(`POST ${inFenced}`, { metadata: { name: 'b' } })).status).toBe(201);
    expect((await send(`POST ${inFenced}`, { metadata: { name: 'a' } })).status).toBe(422);
    expect((await send('POST /api/v1/namespaces/fenced/secrets', { metadata: { name: 'a' } })).status).toBe(201);
  });

  test('holds no longer when its binding is gone', async () => {
    await fence({ validations: [{ expression: 'false' }] });
    expect((await make('a')).status).toBe(422);
    await send(`DELETE ${path}/validatingadmissionpolicybindings/fence`);
    expect((await make('a')).status).toBe(201);
  });
});
