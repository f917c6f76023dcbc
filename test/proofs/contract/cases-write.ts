import { aWidget, type Cases, type Step, step } from './case.ts';
import { configMaps, merge, widgets } from './paths.ts';

const jsonPatch = 'application/json-patch+json';
const strategic = 'application/strategic-merge-patch+json';

const widget = (name: string, spec: unknown = { size: 3 }) => aWidget({ name }, { spec });

const createA = step(`POST ${configMaps}`, 201, {
  body: { metadata: { name: 'a' }, data: { x: 'y' } },
  save: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
});

const createW = step(`POST ${widgets}`, 201, {
  body: widget('w'),
  save: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
});

const invalid = (message: string | RegExp) => ({ kind: 'Status', reason: 'Invalid', code: 422, message });

export const writeCases: Cases = {
  'a new object gets uid, resourceVersion and creationTimestamp from the server, whatever it brings': [
    step(`POST ${widgets}`, 201, {
      body: {
        ...widget('w'),
        metadata: { name: 'w', uid: 'mine', generation: 9, creationTimestamp: '2020-01-01T00:00:00Z' },
        status: { phase: 'Mine' },
      },
      answer: {
        metadata: {
          uid: /^[0-9a-f-]{36}$/,
          generation: 1,
          creationTimestamp: /^20..-..-..T..:..:..Z$/,
          namespace: '{ns}',
        },
        spec: { size: 3, color: 'red' },
      },
      without: ['status'],
    }),
  ],
  'a second object of the same name is a conflict that says AlreadyExists': [
    createA,
    step(`POST ${configMaps}`, 409, {
      body: { metadata: { name: 'a' } },
      answer: {
        reason: 'AlreadyExists',
        message: 'configmaps "a" already exists',
        details: { name: 'a', kind: 'configmaps' },
        code: 409,
      },
    }),
  ],
  'generateName is completed to a name of its own': [
    step(`POST ${configMaps}`, 201, {
      body: { metadata: { generateName: 'some-' } },
      answer: { metadata: { name: /^some-[a-z0-9]{5}$/, generateName: 'some-' } },
    }),
  ],
  'names are RFC 1123 and there must be one': [
    step(`POST ${configMaps}`, 422, {
      body: { metadata: { name: 'A_b' } },
      answer: {
        ...invalid(
          /^ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist/,
        ),
        details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] },
      },
    }),
    step(`POST ${configMaps}`, 422, {
      body: { metadata: {} },
      answer: invalid('ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'),
    }),
  ],
  'labels, annotations, finalizers and owners are checked': [
    step(`POST ${widgets}`, 422, {
      body: { ...widget('w'), metadata: { name: 'w', labels: { 'a b': '-x' }, ownerReferences: [{ name: 'x' }] } },
      answer: invalid(
        /metadata.labels: Invalid value: "a b": name part must consist .* a valid label must be .*metadata.ownerReferences.uid: Invalid value: "": must not be empty/,
      ),
    }),
    step(`POST ${configMaps}`, 422, {
      body: { metadata: { name: 'x', finalizers: ['bad f'] } },
      answer: invalid(/metadata.finalizers: Invalid value: "bad f": name part must consist/),
    }),
  ],
  'an object must fit the path it is sent to': [
    step(`POST ${configMaps}`, 400, {
      body: { metadata: { name: 'a', namespace: 'other' } },
      answer: { message: 'the namespace of the provided object does not match the namespace sent on the request' },
    }),
    step(`POST ${configMaps}`, 400, { body: { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } } }),
    createA,
    step(`PUT ${configMaps}/a`, 400, {
      body: { metadata: { name: 'b' } },
      answer: { message: 'the name of the object (b) does not match the name on the URL (a)' },
    }),
    step('POST /api/v1/namespaces/no-such-namespace/configmaps', 404, {
      body: { metadata: { name: 'a' } },
      answer: { message: 'namespaces "no-such-namespace" not found' },
    }),
    step(`POST ${widgets}`, 400, {
      body: { metadata: { name: 'w' } },
      answer: {
        message: /^the object provided is unrecognized \(must be of type Widget\): Object 'Kind' is missing in/,
      },
    }),
  ],
  'a body that is no JSON, or has a field of the wrong type, is a bad request': [
    step(`POST ${configMaps}`, 400, { body: { metadata: { name: 'a' }, data: { x: 1 } } }),
    step(`POST ${widgets}`, 400, {
      body: { ...widget('w'), metadata: { name: 'w', labels: { a: 1 } } },
      answer: { reason: 'BadRequest', message: /^Widget in version "v1" cannot be handled as a Widget: / },
    }),
  ],
  'a write with an old resourceVersion is a conflict': [
    createA,
    ...(['PUT', 'PATCH'] as const).map(
      (method): Step => ({
        request: `${method} ${configMaps}/a`,
        body: { metadata: { name: 'a', resourceVersion: '1' } },
        ...(method === 'PATCH' && { type: merge }),
        status: 409,
        answer: {
          reason: 'Conflict',
          message:
            'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
          details: { name: 'a', kind: 'configmaps' },
        },
      }),
    ),
    step(`PATCH ${configMaps}/a`, 200, {
      type: merge,
      body: { metadata: { uid: '{uid}', resourceVersion: '{version}' }, data: { x: 'z' } },
      answer: { data: { x: 'z' } },
    }),
  ],
  'a PUT with the wrong uid is a conflict; a PATCH with it is invalid, and only the resourceVersion guards a status': [
    createW,
    step(`PUT ${widgets}/w`, 409, {
      body: { ...widget('w'), metadata: { name: 'w', uid: 'wrong', resourceVersion: '{version}' } },
      answer: { message: /Precondition failed: UID in precondition: wrong, UID in object meta: / },
    }),
    step(`PATCH ${widgets}/w`, 422, {
      type: merge,
      body: { metadata: { uid: 'wrong' }, spec: { size: 4 } },
      answer: invalid(
        'Widget.contract.example.com "w" is invalid: metadata.uid: Invalid value: "wrong": field is immutable',
      ),
    }),
    step(`PATCH ${widgets}/w/status`, 200, {
      type: merge,
      body: { metadata: { uid: 'wrong' }, status: { phase: 'P' } },
      answer: { metadata: { uid: '{uid}' }, status: { phase: 'P' } },
    }),
    step(`PATCH ${widgets}/w/status`, 409, {
      type: merge,
      body: { metadata: { resourceVersion: '{version}' }, status: { phase: 'Q' } },
      answer: { reason: 'Conflict' },
    }),
  ],
  'a custom resource is only replaced under its resourceVersion': [
    createW,
    step(`PUT ${widgets}/w`, 422, {
      body: widget('w', { size: 4 }),
      answer: invalid(
        'widgets.contract.example.com "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      ),
    }),
    step(`PUT ${widgets}/w`, 200, {
      body: { ...widget('w', { size: 4 }), metadata: { name: 'w', resourceVersion: '{version}' } },
      answer: { spec: { size: 4, color: 'red' } },
    }),
  ],
  'generation counts changes of the spec only': [
    createW,
    step(`PATCH ${widgets}/w`, 200, {
      type: merge,
      body: { metadata: { labels: { a: 'b' } } },
      answer: { metadata: { generation: 1 } },
    }),
    step(`PATCH ${widgets}/w/status`, 200, {
      type: merge,
      body: { status: { phase: 'P' } },
      answer: { metadata: { generation: 1 } },
    }),
    step(`PATCH ${widgets}/w`, 200, {
      type: merge,
      body: { spec: { size: 5 } },
      answer: { metadata: { generation: 2 } },
    }),
    step(`PATCH ${widgets}/w`, 200, {
      type: merge,
      body: { metadata: { generation: 9 } },
      answer: { metadata: { generation: 2 } },
    }),
  ],
  'a write that changes nothing does not raise the resourceVersion': [
    createW,
    ...[{ spec: { size: 3 } }, { status: { phase: 'ignored' } }, {}].map((body) =>
      step(`PATCH ${widgets}/w`, 200, {
        type: merge,
        body,
        answer: { metadata: { resourceVersion: '{version}' } },
        without: ['status'],
      }),
    ),
  ],
  'status is written through /status only, and /status writes nothing else': [
    createW,
    step(`PATCH ${widgets}/w/status`, 200, {
      type: merge,
      body: { metadata: { labels: { a: 'b' }, finalizers: ['x/y'] }, spec: { size: 9 }, status: { phase: 'P' } },
      answer: { spec: { size: 3 }, status: { phase: 'P' } },
      without: ['metadata.labels', 'metadata.finalizers'],
    }),
    step(`PATCH ${widgets}/w`, 200, {
      type: merge,
      body: { status: { phase: 'Q' }, spec: { size: 4 } },
      answer: { spec: { size: 4 }, status: { phase: 'P' } },
    }),
    step(`PATCH ${configMaps}/a/status`, 404, { type: merge, body: {} }),
  ],
  'the schema of a custom resource defaults, prunes and refuses': [
    step(`POST ${widgets}`, 201, {
      body: { ...widget('w', { size: 1, bogus: 1 }), more: 1 },
      warnings: ['unknown field "more"', 'unknown field "spec.bogus"'],
      answer: { spec: { size: 1, color: 'red' } },
      without: ['spec.bogus', 'more'],
    }),
    step(`POST ${widgets}?fieldValidation=Strict`, 400, {
      body: { ...widget('v', { size: 1, bogus: 1 }), more: 1 },
      answer: {
        message:
          'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "more", unknown field "spec.bogus"',
      },
    }),
    step(`POST ${widgets}?fieldValidation=Ignore`, 201, { body: widget('u', { size: 1, bogus: 1 }), warnings: [] }),
    step(`POST ${widgets}`, 422, {
      body: widget('t', { size: 3, color: 1 }),
      answer: {
        details: {
          name: 't',
          group: 'contract.example.com',
          kind: 'Widget',
          causes: [
            {
              reason: 'FieldValueTypeInvalid',
              message: 'Invalid value: "integer": spec.color in body must be of type string: "integer"',
              field: 'spec.color',
            },
            {},
          ],
        },
      },
    }),
    step(`POST ${widgets}`, 422, {
      body: widget('t', { size: 0 }),
      answer: invalid(/spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1/),
    }),
    step(`PATCH ${widgets}/w`, 422, {
      type: merge,
      body: { spec: { size: 200 } },
      answer: invalid('Widget.contract.example.com "w" is invalid: spec: Invalid value: "object": too large'),
    }),
    step(`PATCH ${widgets}/w`, 200, { type: merge, body: { spec: { size: 9 } } }),
    step(`PATCH ${widgets}/w`, 422, { type: merge, body: { spec: { size: 8 } }, answer: invalid(/may not shrink/) }),
  ],
  'an unknown field of a built-in kind is a warning, or refused when strict': [
    step(`POST ${configMaps}?fieldValidation=Strict`, 400, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', bogus: 1 }, bogus: {} },
      answer: {
        message:
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.bogus", unknown field "bogus"',
      },
    }),
  ],
  'patches: merge, JSON and, for built-in kinds, strategic': [
    createA,
    step(`PATCH ${configMaps}/a`, 200, {
      type: merge,
      body: { data: { x: null, z: '1' } },
      answer: { data: { z: '1' } },
      without: ['data.x'],
    }),
    step(`PATCH ${configMaps}/a`, 200, {
      type: jsonPatch,
      body: [{ op: 'add', path: '/data/w', value: '2' }],
      answer: { data: { w: '2', z: '1' } },
    }),
    step(`PATCH ${configMaps}/a`, 200, {
      type: strategic,
      body: { data: { s: '3' } },
      answer: { data: { s: '3', w: '2' } },
    }),
    step(`PATCH ${configMaps}/a`, 422, {
      type: jsonPatch,
      body: [{ op: 'test', path: '/data/z', value: 'other' }],
      answer: invalid(/^the server rejected our request due to an error in our request/),
    }),
    step(`PATCH ${configMaps}/a`, 400, { type: merge, body: [1] }),
    step(`PATCH ${configMaps}/a`, 415, { type: 'application/unheard-of', body: {} }),
    createW,
    step(`PATCH ${widgets}/w`, 415, {
      type: strategic,
      body: {},
      answer: {
        reason: 'UnsupportedMediaType',
        message:
          'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      },
    }),
    step(`PATCH ${widgets}/none`, 404, {
      type: merge,
      body: {},
      answer: { message: 'widgets.contract.example.com "none" not found' },
    }),
  ],
  'dryRun=All answers as if and changes nothing': [
    step(`POST ${configMaps}?dryRun=All`, 201, {
      body: { metadata: { name: 'd' } },
      answer: { metadata: { name: 'd' } },
    }),
    step(`GET ${configMaps}/d`, 404),
    createA,
    step(`PATCH ${configMaps}/a?dryRun=All`, 200, {
      type: merge,
      body: { data: { x: 'dry' } },
      answer: { data: { x: 'dry' } },
    }),
    step(`DELETE ${configMaps}/a?dryRun=All`, 200),
    step(`GET ${configMaps}/a`, 200, { answer: { data: { x: 'y' }, metadata: { resourceVersion: '{version}' } } }),
    step(`DELETE ${configMaps}/a?dryRun=Some`, 422),
  ],
  'PUT makes a Lease that is not there, and no ConfigMap': [
    step('PUT /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l', 201, { body: { metadata: { name: 'l' } } }),
    step(`PUT ${configMaps}/none`, 404, { body: { metadata: { name: 'none' } } }),
  ],
  'a Lease is replaced under its resourceVersion only, but a PUT brings a deleted one back unless it names the uid': [
    step('POST /apis/coordination.k8s.io/v1/namespaces/{ns}/leases', 201, {
      body: { metadata: { name: 'l' } },
      save: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
    }),
    step('PUT /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l', 422, {
      body: { metadata: { name: 'l' } },
      answer: invalid(
        'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      ),
    }),
    step('DELETE /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l', 200),
    step('PUT /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l', 409, {
      body: { metadata: { name: 'l', uid: '{uid}', resourceVersion: '{version}' } },
      answer: { reason: 'Conflict', message: /Precondition failed: UID in precondition: .*, UID in object meta: $/ },
    }),
    step('PUT /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l', 201, {
      body: { metadata: { name: 'l', resourceVersion: '{version}' } },
    }),
  ],
  'a patch cannot take a custom resource’s resourceVersion away': [
    createW,
    step(`PATCH ${widgets}/w`, 422, {
      type: merge,
      body: { metadata: { resourceVersion: null } },
      answer: invalid(/must be specified for an update/),
    }),
  ],
  'built-in kinds are completed and checked': [
    step('POST /api/v1/namespaces/{ns}/secrets', 201, {
      body: { metadata: { name: 's' }, stringData: { a: 'b' } },
      answer: { data: { a: 'Yg==' }, type: 'Opaque' },
      without: ['stringData'],
    }),
    step('POST /api/v1/namespaces/{ns}/persistentvolumeclaims', 422, {
      body: { metadata: { name: 'p' }, spec: {} },
      answer: invalid(
        'PersistentVolumeClaim "p" is invalid: [spec.accessModes: Required value: at least 1 access mode is required, spec.resources[storage]: Required value]',
      ),
    }),
    step('POST /api/v1/namespaces/{ns}/persistentvolumeclaims', 201, {
      body: {
        metadata: { name: 'p' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
      answer: { spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
    }),
    step('POST /apis/coordination.k8s.io/v1/namespaces/{ns}/leases', 422, {
      body: { metadata: { name: 'l' }, spec: { leaseDurationSeconds: 0 } },
      answer: invalid(
        'Lease.coordination.k8s.io "l" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      ),
    }),
    step('POST /api/v1/namespaces/{ns}/events', 422, {
      body: { metadata: { name: 'e' }, involvedObject: { namespace: 'other' } },
      answer: invalid(
        'Event "e" is invalid: involvedObject.namespace: Invalid value: "other": does not match event.namespace',
      ),
    }),
    step('POST /apis/apps/v1/namespaces/{ns}/deployments', 422, {
      body: {
        metadata: { name: 'd' },
        spec: {
          selector: { matchLabels: { a: 'c' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } },
        },
      },
      answer: invalid(
        /spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`/,
      ),
    }),
    step('POST /apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles', 422, {
      body: { metadata: { name: 'a:b' }, rules: [{ verbs: [] }] },
      answer: invalid(/rules\[0\].verbs: Required value: verbs must contain at least one value/),
    }),
  ],
  'what no path or method means is refused': [
    step('POST /api/v1/configmaps', 405, { body: { metadata: { name: 'a' } }, answer: { reason: 'MethodNotAllowed' } }),
    step('DELETE /api/v1/configmaps', 405),
    step(`GET /api/v1/namespaces/{ns}/foos`, 404, {
      answer: { message: 'the server could not find the requested resource' },
    }),
  ],
};
