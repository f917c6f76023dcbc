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

describe('a policy that is bound', () => {
  test('refuses what one of its validations does not hold for, and says which in the server’s words', async () => {
    await fence({
      validations: [{ expression: "object.metadata.name.startsWith('ok-')", message: 'a name that is ok' }],
    });
    expect((await make('ok-a')).status).toBe(201);
    const { status, body } = await make('a');
    const said = "ValidatingAdmissionPolicy 'fence' with binding 'fence' denied request: a name that is ok";
    expect([status, body]).toMatchObject([
      422,
      {
        reason: 'Invalid',
        message: `configmaps "a" is forbidden: ${said}`,
        details: { name: 'a', kind: 'configmaps', causes: [{ message: said }] },
      },
    ]);
  });

  test('says what failed where it has no words for it, and answers with its own reason', async () => {
    await fence({ validations: [{ expression: ' has(object.data) ', reason: 'Forbidden' }] });
    const { status, body } = await make('a');
    expect([status, body.reason]).toEqual([403, 'Forbidden']);
    expect(body.message).toContain('denied request: failed expression: has(object.data)');
  });

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

  test('knows who asks for what, and leaves out whom its conditions leave out', async () => {
    await fence({
      matchConditions: [
        { name: 'robots', expression: "request.userInfo.username.startsWith('system:serviceaccount:')" },
      ],
      validations: [
        {
          expression: "request.namespace == 'default' && 'system:serviceaccounts' in request.userInfo.groups",
          message: 'robots of the namespace',
        },
        { expression: "request.operation != 'DELETE' || request.name == 'mine'", message: 'its own' },
      ],
    });
    expect((await make('mine')).status).toBe(201);
    const robot = { 'impersonate-user': 'system:serviceaccount:default:robot', 'impersonate-group': 'system:masters' };
    expect((await make('other', {}, robot)).body.message).toContain('robots of the namespace');
    const asRobot = { ...robot, 'impersonate-group': 'system:masters,system:serviceaccounts' };
    expect((await make('other', {}, asRobot)).status).toBe(201);
    expect((await send(`DELETE ${configMaps}/other`, undefined, asRobot)).body.message).toContain('its own');
    expect((await send(`DELETE ${configMaps}/mine`, undefined, asRobot)).status).toBe(200);
  });

  test('sees the object before an update, and null if it did not exist', async () => {
    await fence({
      validations: [{ expression: 'oldObject == null || object.data == oldObject.data', message: 'data stays' }],
    });
    expect((await make('a', { a: '1' })).status).toBe(201);
    expect((await send(`PATCH ${configMaps}/a`, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
    expect((await send(`PATCH ${configMaps}/a`, { data: { a: '2' } })).status).toBe(422);
  });

  test.each([
    ['refuses', 'Fail', 422],
    ['lets pass, when failures are ignored,', 'Ignore', 201],
  ])('%s what its expressions fail at', async (_, failurePolicy, status) => {
    await fence({ failurePolicy, validations: [{ expression: "object.spec.color == 'red'" }] });
    const answer = await make('a');
    expect(answer.status).toBe(status);
    if (status === 422) {
      expect(answer.body.message).toContain(
        "expression 'object.spec.color == 'red'' resulted in error: no such key: spec",
      );
    }
  });

  test('warns instead, where it is bound to', async () => {
    await fence({ validations: [{ expression: 'false', message: 'rather not' }] }, { validationActions: ['Warn'] });
    const { status, headers } = await make('a');
    expect([status, headers.get('warning')]).toEqual([
      201,
      `299 - "Validation failed for ValidatingAdmissionPolicy 'fence' with binding 'fence': rather not"`,
    ]);
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

describe('a policy', () => {
  test.each([
    ['without a validation', {}, 'spec.validations: Required value: validations or auditAnnotations must contain'],
    [
      'of no kind',
      { matchConstraints: {}, validations: [{ expression: 'true' }] },
      'spec.matchConstraints.resourceRules: Required value',
    ],
    [
      'with an invalid expression',
      { validations: [{ expression: 'object.' }] },
      'spec.validations[0].expression: Invalid value: "object.": compilation failed',
    ],
    ['that names what is not there', { validations: [{ expression: 'nothing == 1' }] }, 'compilation failed'],
    ['whose expression is no condition', { validations: [{ expression: "'a'" }] }, 'must evaluate to bool'],
  ])('%s is refused', async (_, spec, message) => {
    const answer = await send(`POST ${path}/validatingadmissionpolicies`, aPolicy(spec));
    expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining(message)]);
  });

  test('is completed', async () => {
    const { body } = await send(
      `POST ${path}/validatingadmissionpolicies`,
      aPolicy({ validations: [{ expression: 'true' }] }),
    );
    expect(body.spec).toEqual({
      failurePolicy: 'Fail',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [{ ...rule, scope: '*' }],
      },
      validations: [{ expression: 'true' }],
    });
  });

  test('is bound to do something, and not to deny and warn at once', async () => {
    const bind = (spec: object) => send(`POST ${path}/validatingadmissionpolicybindings`, aBinding(spec));
    expect((await bind({ validationActions: [] })).body.message).toContain(
      'at least one validation action is required',
    );
    expect((await bind({ validationActions: ['Deny', 'Warn'] })).body.message).toContain('must not contain both');
    expect((await bind({ validationActions: ['Stop'] })).body.message).toContain('Unsupported value: "Stop"');
  });
});
