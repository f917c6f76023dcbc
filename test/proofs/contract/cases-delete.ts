import { aWidget, type Cases, step } from './case.ts';
import { configMaps, merge, widgets } from './paths.ts';

const configMap = (name: string, metadata: object = {}) =>
  step(`POST ${configMaps}`, 201, { body: { metadata: { name, ...metadata } }, save: { [name]: 'metadata.uid' } });

const widget = (name: string, metadata: object = {}) =>
  step(`POST ${widgets}`, 201, {
    body: aWidget({ name, ...metadata }),
    save: { [name]: 'metadata.uid', version: 'metadata.resourceVersion' },
  });

const finalizers = (path: string, list: string[] | null, status = 200) =>
  step(`PATCH ${path}`, status, { type: merge, body: { metadata: { finalizers: list } } });

const owner = (name: string, uid: string, more: object = {}) => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more }],
});

const gone = (path: string) => step(`GET ${path}`, 404, { eventually: true });
const stays = (path: string) => step(`GET ${path}`, 200);

export const deleteCases: Cases = {
  'a deleted object is gone at once, and its DELETE says what it was': [
    configMap('a'),
    step(`DELETE ${configMaps}/a`, 200, {
      answer: { kind: 'Status', status: 'Success', details: { name: 'a', kind: 'configmaps', uid: '{a}' } },
    }),
    step(`GET ${configMaps}/a`, 404),
    step(`DELETE ${configMaps}/a`, 404, { answer: { message: 'configmaps "a" not found', reason: 'NotFound' } }),
  ],
  'preconditions protect against deleting another object than the one meant': [
    configMap('a'),
    step(`DELETE ${configMaps}/a`, 409, {
      body: { preconditions: { uid: 'x' } },
      answer: {
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record ({a}). The object might have been deleted and then recreated',
      },
    }),
    step(`DELETE ${configMaps}/a`, 409, {
      body: { preconditions: { uid: '{a}', resourceVersion: '1' } },
      answer: { message: /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record/ },
    }),
    step(`DELETE ${configMaps}/a`, 200, { body: { preconditions: { uid: '{a}' } } }),
  ],
  'finalizers hold a deleted object until the last is removed, and none may be added': [
    widget('w', { finalizers: ['x/a', 'x/b'] }),
    step(`DELETE ${widgets}/w`, 200, {
      answer: {
        kind: 'Widget',
        metadata: { deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0, generation: 2, finalizers: ['x/a', 'x/b'] },
      },
      save: { version: 'metadata.resourceVersion' },
    }),
    step(`DELETE ${widgets}/w`, 200, { answer: { metadata: { resourceVersion: '{version}' } } }),
    {
      ...finalizers(`${widgets}/w`, ['x/a', 'x/b', 'x/c'], 422),
      answer: {
        message:
          'Widget.contract.example.com "w" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/c"}',
      },
    },
    { ...finalizers(`${widgets}/w`, ['x/b']), answer: { metadata: { finalizers: ['x/b'] } } },
    step(`PATCH ${widgets}/w`, 200, {
      type: merge,
      body: { metadata: { deletionTimestamp: null } },
      answer: { metadata: { deletionTimestamp: /Z$/ } },
    }),
    finalizers(`${widgets}/w`, null),
    step(`GET ${widgets}/w`, 404),
  ],
  'finalizers are not written through /status': [
    widget('w', { finalizers: ['x/a'] }),
    { ...finalizers(`${widgets}/w/status`, null), answer: { metadata: { finalizers: ['x/a'] } } },
    finalizers(`${widgets}/w`, null),
  ],
  'DELETE of a collection takes what matches': [
    configMap('a', { labels: { go: 'yes' } }),
    configMap('b'),
    step(`DELETE ${configMaps}?labelSelector=go%3Dyes`, 200, { answer: { kind: 'ConfigMapList' } }),
    gone(`${configMaps}/a`),
    stays(`${configMaps}/b`),
  ],
  'what no owner is left for is deleted in the background': [
    configMap('a'),
    configMap('b', owner('a', '{a}')),
    configMap('c', owner('b', '{b}')),
    step(`DELETE ${configMaps}/a`, 200),
    gone(`${configMaps}/b`),
    gone(`${configMaps}/c`),
  ],
  'an owner of another uid is no owner': [
    configMap('a'),
    configMap('b', owner('a', '00000000-0000-0000-0000-000000000000')),
    gone(`${configMaps}/b`),
    stays(`${configMaps}/a`),
  ],
  'one living owner is enough, and the dead one is forgotten': [
    configMap('a'),
    configMap('d'),
    configMap('b', { ownerReferences: [...owner('a', '{a}').ownerReferences, ...owner('d', '{d}').ownerReferences] }),
    step(`DELETE ${configMaps}/a`, 200),
    step(`GET ${configMaps}/b`, 200, { eventually: true, answer: { metadata: { ownerReferences: [{ name: 'd' }] } } }),
  ],
  'propagationPolicy Orphan leaves the dependents, without the owner': [
    configMap('a'),
    configMap('b', owner('a', '{a}')),
    step(`DELETE ${configMaps}/a`, 200, { body: { propagationPolicy: 'Orphan' } }),
    gone(`${configMaps}/a`),
    step(`GET ${configMaps}/b`, 200, { without: ['metadata.ownerReferences'] }),
  ],
  'propagationPolicy Foreground keeps the owner until what blocks it is gone': [
    configMap('a'),
    configMap('b', { ...owner('a', '{a}', { blockOwnerDeletion: true }), finalizers: ['x/held'] }),
    step(`DELETE ${configMaps}/a`, 200, {
      body: { propagationPolicy: 'Foreground' },
      answer: { metadata: { finalizers: ['foregroundDeletion'], deletionTimestamp: /Z$/ } },
    }),
    step(`GET ${configMaps}/b`, 200, { eventually: true, answer: { metadata: { deletionTimestamp: /Z$/ } } }),
    stays(`${configMaps}/a`),
    finalizers(`${configMaps}/b`, null),
    gone(`${configMaps}/a`),
  ],
  'a namespace goes with what is in it, and waits for what is held': [
    step('POST /api/v1/namespaces', 201, {
      body: { metadata: { name: '{ns}-x' } },
      answer: {
        metadata: { labels: { 'kubernetes.io/metadata.name': '{ns}-x' } },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      },
    }),
    step('POST /api/v1/namespaces/{ns}-x/configmaps', 201, {
      body: { metadata: { name: 'held', finalizers: ['x/a'] } },
    }),
    step('POST /api/v1/namespaces/{ns}-x/configmaps', 201, { body: { metadata: { name: 'free' } } }),
    step('DELETE /api/v1/namespaces/{ns}-x', 200, {
      answer: { kind: 'Namespace', status: { phase: 'Terminating' }, metadata: { deletionTimestamp: /Z$/ } },
    }),
    gone('/api/v1/namespaces/{ns}-x/configmaps/free'),
    step('POST /api/v1/namespaces/{ns}-x/configmaps', 403, {
      body: { metadata: { name: 'late' } },
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
    }),
    step('GET /api/v1/namespaces/{ns}-x', 200, {
      answer: { status: { phase: 'Terminating' } }, // When its conditions come is the namespace controller's affair.
      pick: (body) => (body as { metadata: { name: string } }).metadata.name,
    }),
    finalizers('/api/v1/namespaces/{ns}-x/configmaps/held', null),
    gone('/api/v1/namespaces/{ns}-x'),
  ],
};
