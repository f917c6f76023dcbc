import type { Case, Step } from './case.ts';
import { configMaps, merge, widgets } from './paths.ts';

const configMap = (name: string, metadata: object = {}): Step => ({
  request: `POST ${configMaps}`,
  body: { metadata: { name, ...metadata } },
  status: 201,
  save: { [name]: 'metadata.uid' },
});

const widget = (name: string, metadata: object = {}): Step => ({
  request: `POST ${widgets}`,
  body: { apiVersion: 'contract.example.com/v1', kind: 'Widget', metadata: { name, ...metadata }, spec: { size: 1 } },
  status: 201,
  save: { [name]: 'metadata.uid', version: 'metadata.resourceVersion' },
});

const finalizers = (path: string, list: string[] | null, status = 200): Step => ({
  request: `PATCH ${path}`,
  type: merge,
  body: { metadata: { finalizers: list } },
  status,
});

const owner = (name: string, uid: string, more: object = {}) => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more }],
});

const gone = (path: string): Step => ({ request: `GET ${path}`, status: 404, eventually: true });
const stays = (path: string): Step => ({ request: `GET ${path}`, status: 200 });

export const deleteCases: Case[] = [
  {
    name: 'a deleted object is gone at once, and its DELETE says what it was',
    steps: [
      configMap('a'),
      {
        request: `DELETE ${configMaps}/a`,
        status: 200,
        answer: { kind: 'Status', status: 'Success', details: { name: 'a', kind: 'configmaps', uid: '{a}' } },
      },
      { request: `GET ${configMaps}/a`, status: 404 },
      {
        request: `DELETE ${configMaps}/a`,
        status: 404,
        answer: { message: 'configmaps "a" not found', reason: 'NotFound' },
      },
    ],
  },
  {
    name: 'preconditions protect against deleting another object than the one meant',
    steps: [
      configMap('a'),
      {
        request: `DELETE ${configMaps}/a`,
        body: { preconditions: { uid: 'x' } },
        status: 409,
        answer: {
          reason: 'Conflict',
          message:
            'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record ({a}). The object might have been deleted and then recreated',
        },
      },
      {
        request: `DELETE ${configMaps}/a`,
        body: { preconditions: { uid: '{a}', resourceVersion: '1' } },
        status: 409,
        answer: {
          message: /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record/,
        },
      },
      { request: `DELETE ${configMaps}/a`, body: { preconditions: { uid: '{a}' } }, status: 200 },
    ],
  },
  {
    name: 'finalizers hold a deleted object until the last is removed, and none may be added',
    steps: [
      widget('w', { finalizers: ['x/a', 'x/b'] }),
      {
        request: `DELETE ${widgets}/w`,
        status: 200,
        answer: {
          kind: 'Widget',
          metadata: {
            deletionTimestamp: /Z$/,
            deletionGracePeriodSeconds: 0,
            generation: 2,
            finalizers: ['x/a', 'x/b'],
          },
        },
        save: { version: 'metadata.resourceVersion' },
      },
      { request: `DELETE ${widgets}/w`, status: 200, answer: { metadata: { resourceVersion: '{version}' } } },
      {
        ...finalizers(`${widgets}/w`, ['x/a', 'x/b', 'x/c'], 422),
        answer: {
          message:
            'Widget.contract.example.com "w" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/c"}',
        },
      },
      { ...finalizers(`${widgets}/w`, ['x/b']), answer: { metadata: { finalizers: ['x/b'] } } },
      {
        request: `PATCH ${widgets}/w`,
        type: merge,
        body: { metadata: { deletionTimestamp: null } },
        status: 200,
        answer: { metadata: { deletionTimestamp: /Z$/ } },
      },
      finalizers(`${widgets}/w`, null),
      { request: `GET ${widgets}/w`, status: 404 },
    ],
  },
  {
    name: 'finalizers are not written through /status',
    steps: [
      widget('w', { finalizers: ['x/a'] }),
      { ...finalizers(`${widgets}/w/status`, null), answer: { metadata: { finalizers: ['x/a'] } } },
      finalizers(`${widgets}/w`, null),
    ],
  },
  {
    name: 'DELETE of a collection takes what matches',
    steps: [
      configMap('a', { labels: { go: 'yes' } }),
      configMap('b'),
      { request: `DELETE ${configMaps}?labelSelector=go%3Dyes`, status: 200, answer: { kind: 'ConfigMapList' } },
      gone(`${configMaps}/a`),
      stays(`${configMaps}/b`),
    ],
  },
  {
    name: 'what no owner is left for is deleted in the background',
    steps: [
      configMap('a'),
      configMap('b', owner('a', '{a}')),
      configMap('c', owner('b', '{b}')),
      { request: `DELETE ${configMaps}/a`, status: 200 },
      gone(`${configMaps}/b`),
      gone(`${configMaps}/c`),
    ],
  },
  {
    name: 'an owner of another uid is no owner',
    steps: [
      configMap('a'),
      configMap('b', owner('a', '00000000-0000-0000-0000-000000000000')),
      gone(`${configMaps}/b`),
      stays(`${configMaps}/a`),
    ],
  },
  {
    name: 'one living owner is enough, and the dead one is forgotten',
    steps: [
      configMap('a'),
      configMap('d'),
      configMap('b', { ownerReferences: [...owner('a', '{a}').ownerReferences, ...owner('d', '{d}').ownerReferences] }),
      { request: `DELETE ${configMaps}/a`, status: 200 },
      {
        request: `GET ${configMaps}/b`,
        status: 200,
        eventually: true,
        answer: { metadata: { ownerReferences: [{ name: 'd' }] } },
      },
    ],
  },
  {
    name: 'propagationPolicy Orphan leaves the dependents, without the owner',
    steps: [
      configMap('a'),
      configMap('b', owner('a', '{a}')),
      { request: `DELETE ${configMaps}/a`, body: { propagationPolicy: 'Orphan' }, status: 200 },
      gone(`${configMaps}/a`),
      { request: `GET ${configMaps}/b`, status: 200, without: ['metadata.ownerReferences'] },
    ],
  },
  {
    name: 'propagationPolicy Foreground keeps the owner until what blocks it is gone',
    steps: [
      configMap('a'),
      configMap('b', { ...owner('a', '{a}', { blockOwnerDeletion: true }), finalizers: ['x/held'] }),
      {
        request: `DELETE ${configMaps}/a`,
        body: { propagationPolicy: 'Foreground' },
        status: 200,
        answer: { metadata: { finalizers: ['foregroundDeletion'], deletionTimestamp: /Z$/ } },
      },
      {
        request: `GET ${configMaps}/b`,
        status: 200,
        eventually: true,
        answer: { metadata: { deletionTimestamp: /Z$/ } },
      },
      stays(`${configMaps}/a`),
      finalizers(`${configMaps}/b`, null),
      gone(`${configMaps}/a`),
    ],
  },
  {
    name: 'a namespace goes with what is in it, and waits for what is held',
    steps: [
      {
        request: 'POST /api/v1/namespaces',
        body: { metadata: { name: '{ns}-x' } },
        status: 201,
        answer: {
          metadata: { labels: { 'kubernetes.io/metadata.name': '{ns}-x' } },
          spec: { finalizers: ['kubernetes'] },
          status: { phase: 'Active' },
        },
      },
      {
        request: 'POST /api/v1/namespaces/{ns}-x/configmaps',
        body: { metadata: { name: 'held', finalizers: ['x/a'] } },
        status: 201,
      },
      { request: 'POST /api/v1/namespaces/{ns}-x/configmaps', body: { metadata: { name: 'free' } }, status: 201 },
      {
        request: 'DELETE /api/v1/namespaces/{ns}-x',
        status: 200,
        answer: { kind: 'Namespace', status: { phase: 'Terminating' }, metadata: { deletionTimestamp: /Z$/ } },
      },
      gone('/api/v1/namespaces/{ns}-x/configmaps/free'),
      {
        request: 'POST /api/v1/namespaces/{ns}-x/configmaps',
        body: { metadata: { name: 'late' } },
        status: 403,
        answer: {
          reason: 'Forbidden',
          message:
            'configmaps "late" is forbidden: unable to create new content in namespace {ns}-x because it is being terminated',
          details: {
            causes: [
              {
                reason: 'NamespaceTerminating',
                message: 'namespace {ns}-x is being terminated',
                field: 'metadata.namespace',
              },
            ],
          },
        },
      },
      {
        request: 'GET /api/v1/namespaces/{ns}-x',
        status: 200,
        answer: { status: { phase: 'Terminating' } },
        // When its conditions come is the namespace controller's affair.
        pick: (body) => (body as { metadata: { name: string } }).metadata.name,
      },
      finalizers('/api/v1/namespaces/{ns}-x/configmaps/held', null),
      gone('/api/v1/namespaces/{ns}-x'),
    ],
  },
];
