import type { Case, Step } from './case.ts';
import { configMaps, merge, widgets } from './paths.ts';

const jsonPatch = 'application/json-patch+json';
const strategic = 'application/strategic-merge-patch+json';

const widget = (name: string, spec: unknown = { size: 3 }, more: object = {}) => ({
  apiVersion: 'contract.example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
  ...more,
});

const createA: Step = {
  request: `POST ${configMaps}`,
  body: { metadata: { name: 'a' }, data: { x: 'y' } },
  status: 201,
  save: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
};

const createW: Step = {
  request: `POST ${widgets}`,
  body: widget('w'),
  status: 201,
  save: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
};

const invalid = (message: string | RegExp) => ({ kind: 'Status', reason: 'Invalid', code: 422, message });

export const writeCases: Case[] = [
  {
    name: 'a new object gets uid, resourceVersion and creationTimestamp from the server, whatever it brings',
    steps: [
      {
        request: `POST ${widgets}`,
        body: {
          ...widget('w'),
          metadata: { name: 'w', uid: 'mine', generation: 9, creationTimestamp: '2020-01-01T00:00:00Z' },
          status: { phase: 'Mine' },
        },
        status: 201,
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
      },
    ],
  },
  {
    name: 'a second object of the same name is a conflict that says AlreadyExists',
    steps: [
      createA,
      {
        request: `POST ${configMaps}`,
        body: { metadata: { name: 'a' } },
        status: 409,
        answer: {
          reason: 'AlreadyExists',
          message: 'configmaps "a" already exists',
          details: { name: 'a', kind: 'configmaps' },
          code: 409,
        },
      },
    ],
  },
  {
    name: 'generateName is completed to a name of its own',
    steps: [
      {
        request: `POST ${configMaps}`,
        body: { metadata: { generateName: 'some-' } },
        status: 201,
        answer: { metadata: { name: /^some-[a-z0-9]{5}$/, generateName: 'some-' } },
      },
    ],
  },
  {
    name: 'names are RFC 1123 and there must be one',
    steps: [
      {
        request: `POST ${configMaps}`,
        body: { metadata: { name: 'A_b' } },
        status: 422,
        answer: {
          ...invalid(
            /^ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist/,
          ),
          details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] },
        },
      },
      {
        request: `POST ${configMaps}`,
        body: { metadata: {} },
        status: 422,
        answer: invalid('ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'),
      },
    ],
  },
  {
    name: 'labels, annotations, finalizers and owners are checked',
    steps: [
      {
        request: `POST ${widgets}`,
        body: {
          ...widget('w'),
          metadata: { name: 'w', labels: { 'a b': '-x' }, ownerReferences: [{ name: 'x' }] },
        },
        status: 422,
        answer: invalid(
          /metadata.labels: Invalid value: "a b": name part must consist .* a valid label must be .*metadata.ownerReferences.uid: Invalid value: "": must not be empty/,
        ),
      },
      {
        request: `POST ${configMaps}`,
        body: { metadata: { name: 'x', finalizers: ['bad f'] } },
        status: 422,
        answer: invalid(/metadata.finalizers: Invalid value: "bad f": name part must consist/),
      },
    ],
  },
  {
    name: 'an object must fit the path it is sent to',
    steps: [
      {
        request: `POST ${configMaps}`,
        body: { metadata: { name: 'a', namespace: 'other' } },
        status: 400,
        answer: { message: 'the namespace of the provided object does not match the namespace sent on the request' },
      },
      {
        request: `POST ${configMaps}`,
        body: { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } },
        status: 400,
      },
      createA,
      {
        request: `PUT ${configMaps}/a`,
        body: { metadata: { name: 'b' } },
        status: 400,
        answer: { message: 'the name of the object (b) does not match the name on the URL (a)' },
      },
      {
        request: 'POST /api/v1/namespaces/no-such-namespace/configmaps',
        body: { metadata: { name: 'a' } },
        status: 404,
        answer: { message: 'namespaces "no-such-namespace" not found' },
      },
      {
        request: `POST ${widgets}`,
        body: { metadata: { name: 'w' } },
        status: 400,
        answer: {
          message: /^the object provided is unrecognized \(must be of type Widget\): Object 'Kind' is missing in/,
        },
      },
    ],
  },
  {
    name: 'a body that is no JSON, or has a field of the wrong type, is a bad request',
    steps: [
      { request: `POST ${configMaps}`, body: { metadata: { name: 'a' }, data: { x: 1 } }, status: 400 },
      {
        request: `POST ${widgets}`,
        body: { ...widget('w'), metadata: { name: 'w', labels: { a: 1 } } },
        status: 400,
        answer: { reason: 'BadRequest', message: /^Widget in version "v1" cannot be handled as a Widget: / },
      },
    ],
  },
  {
    name: 'a write with an old resourceVersion is a conflict',
    steps: [
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
      {
        request: `PATCH ${configMaps}/a`,
        type: merge,
        body: { metadata: { uid: '{uid}', resourceVersion: '{version}' }, data: { x: 'z' } },
        status: 200,
        answer: { data: { x: 'z' } },
      },
    ],
  },
  {
    name: 'a PUT with the wrong uid is a conflict; a PATCH with it is invalid, and only the resourceVersion guards a status',
    steps: [
      createW,
      {
        request: `PUT ${widgets}/w`,
        body: { ...widget('w'), metadata: { name: 'w', uid: 'wrong', resourceVersion: '{version}' } },
        status: 409,
        answer: { message: /Precondition failed: UID in precondition: wrong, UID in object meta: / },
      },
      {
        request: `PATCH ${widgets}/w`,
        type: merge,
        body: { metadata: { uid: 'wrong' }, spec: { size: 4 } },
        status: 422,
        answer: invalid(
          'Widget.contract.example.com "w" is invalid: metadata.uid: Invalid value: "wrong": field is immutable',
        ),
      },
      {
        request: `PATCH ${widgets}/w/status`,
        type: merge,
        body: { metadata: { uid: 'wrong' }, status: { phase: 'P' } },
        status: 200,
        answer: { metadata: { uid: '{uid}' }, status: { phase: 'P' } },
      },
      {
        request: `PATCH ${widgets}/w/status`,
        type: merge,
        body: { metadata: { resourceVersion: '{version}' }, status: { phase: 'Q' } },
        status: 409,
        answer: { reason: 'Conflict' },
      },
    ],
  },
  {
    name: 'a custom resource is only replaced under its resourceVersion',
    steps: [
      createW,
      {
        request: `PUT ${widgets}/w`,
        body: widget('w', { size: 4 }),
        status: 422,
        answer: invalid(
          'widgets.contract.example.com "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
        ),
      },
      {
        request: `PUT ${widgets}/w`,
        body: { ...widget('w', { size: 4 }), metadata: { name: 'w', resourceVersion: '{version}' } },
        status: 200,
        answer: { spec: { size: 4, color: 'red' } },
      },
    ],
  },
  {
    name: 'generation counts changes of the spec only',
    steps: [
      createW,
      {
        request: `PATCH ${widgets}/w`,
        type: merge,
        body: { metadata: { labels: { a: 'b' } } },
        status: 200,
        answer: { metadata: { generation: 1 } },
      },
      {
        request: `PATCH ${widgets}/w/status`,
        type: merge,
        body: { status: { phase: 'P' } },
        status: 200,
        answer: { metadata: { generation: 1 } },
      },
      {
        request: `PATCH ${widgets}/w`,
        type: merge,
        body: { spec: { size: 5 } },
        status: 200,
        answer: { metadata: { generation: 2 } },
      },
      {
        request: `PATCH ${widgets}/w`,
        type: merge,
        body: { metadata: { generation: 9 } },
        status: 200,
        answer: { metadata: { generation: 2 } },
      },
    ],
  },
  {
    name: 'a write that changes nothing does not raise the resourceVersion',
    steps: [
      createW,
      ...[{ spec: { size: 3 } }, { status: { phase: 'ignored' } }, {}].map(
        (body): Step => ({
          request: `PATCH ${widgets}/w`,
          type: merge,
          body,
          status: 200,
          answer: { metadata: { resourceVersion: '{version}' } },
          without: ['status'],
        }),
      ),
    ],
  },
  {
    name: 'status is written through /status only, and /status writes nothing else',
    steps: [
      createW,
      {
        request: `PATCH ${widgets}/w/status`,
        type: merge,
        body: { metadata: { labels: { a: 'b' }, finalizers: ['x/y'] }, spec: { size: 9 }, status: { phase: 'P' } },
        status: 200,
        answer: { spec: { size: 3 }, status: { phase: 'P' } },
        without: ['metadata.labels', 'metadata.finalizers'],
      },
      {
        request: `PATCH ${widgets}/w`,
        type: merge,
        body: { status: { phase: 'Q' }, spec: { size: 4 } },
        status: 200,
        answer: { spec: { size: 4 }, status: { phase: 'P' } },
      },
      { request: `PATCH ${configMaps}/a/status`, type: merge, body: {}, status: 404 },
    ],
  },
  {
    name: 'the schema of a custom resource defaults, prunes and refuses',
    steps: [
      {
        request: `POST ${widgets}`,
        body: { ...widget('w', { size: 1, bogus: 1 }), more: 1 },
        status: 201,
        warnings: ['unknown field "more"', 'unknown field "spec.bogus"'],
        answer: { spec: { size: 1, color: 'red' } },
        without: ['spec.bogus', 'more'],
      },
      {
        request: `POST ${widgets}?fieldValidation=Strict`,
        body: { ...widget('v', { size: 1, bogus: 1 }), more: 1 },
        status: 400,
        answer: {
          message:
            'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "more", unknown field "spec.bogus"',
        },
      },
      {
        request: `POST ${widgets}?fieldValidation=Ignore`,
        body: widget('u', { size: 1, bogus: 1 }),
        status: 201,
        warnings: [],
      },
      {
        request: `POST ${widgets}`,
        body: widget('t', { size: 3, color: 1 }),
        status: 422,
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
      },
      {
        request: `POST ${widgets}`,
        body: widget('t', { size: 0 }),
        status: 422,
        answer: invalid(/spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1/),
      },
      {
        request: `PATCH ${widgets}/w`,
        type: merge,
        body: { spec: { size: 200 } },
        status: 422,
        answer: invalid('Widget.contract.example.com "w" is invalid: spec: Invalid value: "object": too large'),
      },
      { request: `PATCH ${widgets}/w`, type: merge, body: { spec: { size: 9 } }, status: 200 },
      {
        request: `PATCH ${widgets}/w`,
        type: merge,
        body: { spec: { size: 8 } },
        status: 422,
        answer: invalid(/may not shrink/),
      },
    ],
  },
  {
    name: 'an unknown field of a built-in kind is a warning, or refused when strict',
    steps: [
      {
        request: `POST ${configMaps}?fieldValidation=Strict`,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', bogus: 1 }, bogus: {} },
        status: 400,
        answer: {
          message:
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.bogus", unknown field "bogus"',
        },
      },
    ],
  },
  {
    name: 'patches: merge, JSON and, for built-in kinds, strategic',
    steps: [
      createA,
      {
        request: `PATCH ${configMaps}/a`,
        type: merge,
        body: { data: { x: null, z: '1' } },
        status: 200,
        answer: { data: { z: '1' } },
        without: ['data.x'],
      },
      {
        request: `PATCH ${configMaps}/a`,
        type: jsonPatch,
        body: [{ op: 'add', path: '/data/w', value: '2' }],
        status: 200,
        answer: { data: { w: '2', z: '1' } },
      },
      {
        request: `PATCH ${configMaps}/a`,
        type: strategic,
        body: { data: { s: '3' } },
        status: 200,
        answer: { data: { s: '3', w: '2' } },
      },
      {
        request: `PATCH ${configMaps}/a`,
        type: jsonPatch,
        body: [{ op: 'test', path: '/data/z', value: 'other' }],
        status: 422,
        answer: invalid(/^the server rejected our request due to an error in our request/),
      },
      { request: `PATCH ${configMaps}/a`, type: merge, body: [1], status: 400 },
      { request: `PATCH ${configMaps}/a`, type: 'application/unheard-of', body: {}, status: 415 },
      createW,
      {
        request: `PATCH ${widgets}/w`,
        type: strategic,
        body: {},
        status: 415,
        answer: {
          reason: 'UnsupportedMediaType',
          message:
            'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
        },
      },
      {
        request: `PATCH ${widgets}/none`,
        type: merge,
        body: {},
        status: 404,
        answer: { message: 'widgets.contract.example.com "none" not found' },
      },
    ],
  },
  {
    name: 'dryRun=All answers as if and changes nothing',
    steps: [
      {
        request: `POST ${configMaps}?dryRun=All`,
        body: { metadata: { name: 'd' } },
        status: 201,
        answer: { metadata: { name: 'd' } },
      },
      { request: `GET ${configMaps}/d`, status: 404 },
      createA,
      {
        request: `PATCH ${configMaps}/a?dryRun=All`,
        type: merge,
        body: { data: { x: 'dry' } },
        status: 200,
        answer: { data: { x: 'dry' } },
      },
      { request: `DELETE ${configMaps}/a?dryRun=All`, status: 200 },
      {
        request: `GET ${configMaps}/a`,
        status: 200,
        answer: { data: { x: 'y' }, metadata: { resourceVersion: '{version}' } },
      },
      { request: `DELETE ${configMaps}/a?dryRun=Some`, status: 422 },
    ],
  },
  {
    name: 'PUT makes a Lease that is not there, and no ConfigMap',
    steps: [
      {
        request: 'PUT /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l',
        body: { metadata: { name: 'l' } },
        status: 201,
      },
      { request: `PUT ${configMaps}/none`, body: { metadata: { name: 'none' } }, status: 404 },
    ],
  },
  {
    name: 'a Lease is replaced under its resourceVersion only, but a PUT brings a deleted one back unless it names the uid',
    steps: [
      {
        request: 'POST /apis/coordination.k8s.io/v1/namespaces/{ns}/leases',
        body: { metadata: { name: 'l' } },
        status: 201,
        save: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
      },
      {
        request: 'PUT /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l',
        body: { metadata: { name: 'l' } },
        status: 422,
        answer: invalid(
          'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
        ),
      },
      { request: 'DELETE /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l', status: 200 },
      {
        request: 'PUT /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l',
        body: { metadata: { name: 'l', uid: '{uid}', resourceVersion: '{version}' } },
        status: 409,
        answer: { reason: 'Conflict', message: /Precondition failed: UID in precondition: .*, UID in object meta: $/ },
      },
      {
        request: 'PUT /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l',
        body: { metadata: { name: 'l', resourceVersion: '{version}' } },
        status: 201,
      },
    ],
  },
  {
    name: 'a patch cannot take a custom resource’s resourceVersion away',
    steps: [
      createW,
      {
        request: `PATCH ${widgets}/w`,
        type: merge,
        body: { metadata: { resourceVersion: null } },
        status: 422,
        answer: invalid(/must be specified for an update/),
      },
    ],
  },
  {
    name: 'built-in kinds are completed and checked',
    steps: [
      {
        request: 'POST /api/v1/namespaces/{ns}/secrets',
        body: { metadata: { name: 's' }, stringData: { a: 'b' } },
        status: 201,
        answer: { data: { a: 'Yg==' }, type: 'Opaque' },
        without: ['stringData'],
      },
      {
        request: 'POST /api/v1/namespaces/{ns}/persistentvolumeclaims',
        body: { metadata: { name: 'p' }, spec: {} },
        status: 422,
        answer: invalid(
          'PersistentVolumeClaim "p" is invalid: [spec.accessModes: Required value: at least 1 access mode is required, spec.resources[storage]: Required value]',
        ),
      },
      {
        request: 'POST /api/v1/namespaces/{ns}/persistentvolumeclaims',
        body: {
          metadata: { name: 'p' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
        status: 201,
        answer: { spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
      },
      {
        request: 'POST /apis/coordination.k8s.io/v1/namespaces/{ns}/leases',
        body: { metadata: { name: 'l' }, spec: { leaseDurationSeconds: 0 } },
        status: 422,
        answer: invalid(
          'Lease.coordination.k8s.io "l" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
        ),
      },
      {
        request: 'POST /api/v1/namespaces/{ns}/events',
        body: { metadata: { name: 'e' }, involvedObject: { namespace: 'other' } },
        status: 422,
        answer: invalid(
          'Event "e" is invalid: involvedObject.namespace: Invalid value: "other": does not match event.namespace',
        ),
      },
      {
        request: 'POST /apis/apps/v1/namespaces/{ns}/deployments',
        body: {
          metadata: { name: 'd' },
          spec: {
            selector: { matchLabels: { a: 'c' } },
            template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } },
          },
        },
        status: 422,
        answer: invalid(
          /spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`/,
        ),
      },
      {
        request: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles',
        body: { metadata: { name: 'a:b' }, rules: [{ verbs: [] }] },
        status: 422,
        answer: invalid(/rules\[0\].verbs: Required value: verbs must contain at least one value/),
      },
    ],
  },
  {
    name: 'what no path or method means is refused',
    steps: [
      {
        request: 'POST /api/v1/configmaps',
        body: { metadata: { name: 'a' } },
        status: 405,
        answer: { reason: 'MethodNotAllowed' },
      },
      { request: 'DELETE /api/v1/configmaps', status: 405 },
      {
        request: `GET /api/v1/namespaces/{ns}/foos`,
        status: 404,
        answer: { message: 'the server could not find the requested resource' },
      },
    ],
  },
];
