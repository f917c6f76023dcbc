import { type Cases, type Step, step } from './case.ts';
import { configMaps, merge } from './paths.ts';

const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const bindings = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';

const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] };

const policy = (spec: object, status = 201) =>
  step(`POST ${policies}`, status, {
    body: {
      metadata: { name: 'fence-{ns}' },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        // Policies are for the whole cluster: other cases must not meet this one.
        matchConditions: [{ name: 'here', expression: "request.namespace == '{ns}'" }],
        ...spec,
      },
    },
  });

const binding = (spec: object = {}, status = 201) =>
  step(`POST ${bindings}`, status, {
    body: {
      metadata: { name: 'fence-{ns}' },
      spec: { policyName: 'fence-{ns}', validationActions: ['Deny'], ...spec },
    },
  });

/** What the store keeps is of no interest here. */
const unpicked = () => 'done';

const done: Step[] = [
  step(`DELETE ${bindings}/fence-{ns}`, 200, { pick: unpicked }),
  step(`DELETE ${policies}/fence-{ns}`, 200, { pick: unpicked }),
];

/** Asked, without being made, until the policy is known to all parts of the server. */
const make = (status: number, name = 'a', more: Partial<Step> = {}) =>
  step(`POST ${configMaps}?dryRun=All`, status, {
    body: { metadata: { name }, data: { a: '1' } },
    ...(status === 201 ? { pick: unpicked } : {}),
    ...more,
  });

export const policyCases: Cases = {
  'a policy that is bound refuses, in words of its own or of its expressions': [
    policy({
      variables: [{ name: 'size', expression: 'object.data.size()' }],
      validations: [
        { expression: "!object.metadata.name.startsWith('a')", message: ' no a ' },
        { expression: "object.metadata.name != 'b'", message: 'no b', reason: 'Forbidden' },
        { expression: "object.metadata.name != 'c'", messageExpression: "'no c of ' + string(variables.size)" },
        { expression: " object.metadata.name != 'd' " },
        { expression: "object.metadata.name != 'e' || object.spec.color == 'red'" },
      ],
    }),
    binding(),
    make(422, 'a', { eventually: true }),
    make(403, 'b'),
    make(422, 'c'),
    make(422, 'd'),
    make(422, 'e'),
    make(201, 'f'),
    ...done,
  ],
  'a policy sees who asks, what was before, and what is to go': [
    step(`POST ${configMaps}`, 201, { body: { metadata: { name: 'a' }, data: { a: '1' } }, pick: unpicked }),
    policy({
      validations: [
        { expression: 'oldObject == null || object == null || object.data == oldObject.data', message: 'data stays' },
        {
          expression: "request.operation != 'DELETE'",
          messageExpression:
            "request.userInfo.username + ' may not delete ' + request.namespace + '/' + request.name + ': ' + string('system:masters' in request.userInfo.groups)",
        },
      ],
    }),
    binding(),
    step(`PATCH ${configMaps}/a?dryRun=All`, 422, { type: merge, body: { data: { a: '2' } }, eventually: true }),
    step(`PATCH ${configMaps}/a?dryRun=All`, 200, {
      type: merge,
      body: { metadata: { labels: { a: 'b' } } },
      pick: unpicked,
    }),
    step(`DELETE ${configMaps}/a`, 422, {
      as: { user: 'system:serviceaccount:{ns}:robot', groups: ['system:masters'] },
    }),
    ...done,
  ],
  'a policy warns, or is ignored where it fails, if that is what it is for': [
    policy({ failurePolicy: 'Ignore', validations: [{ expression: 'object.spec.a == 1' }, { expression: 'false' }] }),
    binding({ validationActions: ['Warn'] }),
    make(201, 'a', {
      eventually: true,
      warnings: [
        "Validation failed for ValidatingAdmissionPolicy 'fence-{ns}' with binding 'fence-{ns}': failed expression: false",
      ],
    }),
    ...done,
  ],
  'policies and their bindings are checked': [
    policy({}, 422),
    policy({ matchConstraints: {}, validations: [{ expression: 'true' }] }, 422),
    policy({ matchConstraints: { resourceRules: [{}] }, validations: [{ expression: 'true' }] }, 422),
    policy({ validations: [{ expression: 'nothing == 1' }] }, 422),
    policy({ validations: [{ expression: "'a'" }] }, 422),
    policy({ validations: [{ expression: 'object.spec.isOpen' }] }, 422),
    policy({ validations: [{ expression: 'true', messageExpression: '1' }] }, 422),
    binding({ validationActions: [] }, 422),
    binding({ validationActions: ['Deny', 'Warn'] }, 422),
    binding({ validationActions: ['Stop'] }, 422),
    binding({ policyName: '' }, 422),
  ],
};
