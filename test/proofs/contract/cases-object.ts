import { aWidget, type Cases, step } from './case.ts';
import { configMaps, merge, widgets } from './paths.ts';

const secrets = '/api/v1/namespaces/{ns}/secrets';
const claims = '/api/v1/namespaces/{ns}/persistentvolumeclaims';

const widget = (name: string, metadata: object = {}) =>
  step(`POST ${widgets}`, 201, {
    body: aWidget({ name, ...metadata }),
    save: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
  });

const deleted = (path: string, body: unknown, status: number) => step(`DELETE ${path}`, status, { body });

export const objectCases: Cases = {
  'an immutable ConfigMap or Secret stays as it is': [
    step(`POST ${configMaps}`, 201, { body: { metadata: { name: 'a' }, immutable: true, data: { x: 'y' } } }),
    step(`PATCH ${configMaps}/a`, 422, { type: merge, body: { data: { x: 'z' } } }),
    step(`PATCH ${configMaps}/a`, 422, { type: merge, body: { immutable: null } }),
    step(`PATCH ${configMaps}/a`, 200, { type: merge, body: { metadata: { labels: { a: 'b' } } } }),
    step(`POST ${secrets}`, 201, { body: { metadata: { name: 's' }, type: 'example.com/t', data: { x: 'eA==' } } }),
    step(`PATCH ${secrets}/s`, 422, { type: merge, body: { type: 'Opaque' } }),
    step(`PATCH ${secrets}/s`, 200, { type: merge, body: { stringData: { x: 'z' } } }),
  ],
  'a claim that is not bound stays as it was made, its size included': [
    step(`POST ${claims}`, 201, {
      body: {
        metadata: { name: 'p' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'none' },
      },
    }),
    step(`PATCH ${claims}/p`, 422, { type: merge, body: { spec: { accessModes: ['ReadOnlyMany'] } } }),
    step(`PATCH ${claims}/p`, 422, { type: merge, body: { spec: { resources: { requests: { storage: '2Gi' } } } } }),
    step(`PATCH ${claims}/p`, 200, { type: merge, body: { metadata: { labels: { a: 'b' } } } }),
  ],
  'a dry run goes all the way but the last step': [
    {
      ...widget('w'),
      request: `POST ${widgets}?dryRun=All`,
      answer: { metadata: { uid: /./ }, spec: { color: 'red' } },
    },
    step(`GET ${widgets}/w`, 404),
    { ...widget('w'), request: `POST ${widgets}?dryRun=All&fieldValidation=Strict`, status: 201 },
    widget('w'),
    { ...widget('w'), request: `POST ${widgets}?dryRun=All`, status: 409, save: {} },
    step(`PATCH ${widgets}/w?dryRun=All`, 422, { type: merge, body: { spec: { size: 0 } } }),
    step(`PATCH ${widgets}/w/status?dryRun=All`, 200, { type: merge, body: { status: { phase: 'P' } } }),
    { ...deleted(`${widgets}/w`, { dryRun: ['All'] }, 200) },
    step(`DELETE ${widgets}?dryRun=All`, 200),
    step(`GET ${widgets}/w`, 200, { without: ['status'] }),
  ],
  'a DELETE may be bound to a resourceVersion': [
    widget('w'),
    step(`PATCH ${widgets}/w`, 200, {
      type: merge,
      body: { spec: { size: 2 } },
      save: { now: 'metadata.resourceVersion' },
    }),
    deleted(`${widgets}/w`, { preconditions: { resourceVersion: '{version}' } }, 409),
    deleted(`${widgets}/w`, { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } }, 409),
    deleted(`${widgets}/w`, { preconditions: { uid: '{uid}', resourceVersion: '{now}' } }, 200),
  ],
  'options of a DELETE are checked': [
    widget('w'),
    deleted(`${widgets}/w`, { propagationPolicy: 'Sideways' }, 422),
    deleted(`${widgets}/w`, { orphanDependents: true, propagationPolicy: 'Orphan' }, 422),
    deleted(`${widgets}/w`, { gracePeriodSeconds: -5 }, 200),
  ],
  'finalizers of a built-in kind hold it, too, and deletionTimestamp cannot be set': [
    step(`POST ${configMaps}`, 201, {
      body: { metadata: { name: 'a', finalizers: ['x/a'], deletionTimestamp: '2020-01-01T00:00:00Z' } },
      without: ['metadata.deletionTimestamp'],
    }),
    deleted(`${configMaps}/a`, {}, 200),
    step(`POST ${configMaps}`, 409, { body: { metadata: { name: 'a' } } }),
    step(`PATCH ${configMaps}/a`, 200, { type: merge, body: { data: { x: 'y' } } }),
    step(`PATCH ${configMaps}/a`, 200, { type: merge, body: { metadata: { finalizers: null } } }),
    step(`GET ${configMaps}/a`, 404),
  ],
  'a PUT of the status changes the status only': [
    widget('w', { labels: { a: 'b' } }),
    step(`PUT ${widgets}/w/status`, 200, {
      body: aWidget({ name: 'w', resourceVersion: '{version}' }, { spec: { size: 9 }, status: { phase: 'Done' } }),
      answer: { spec: { size: 1 }, status: { phase: 'Done' }, metadata: { labels: { a: 'b' }, generation: 1 } },
    }),
    step(`PUT ${widgets}/w/status`, 409, {
      body: aWidget({ name: 'w', resourceVersion: '{version}' }, { spec: { size: 1 }, status: { phase: 'Again' } }),
    }),
    step(`PUT ${widgets}/none/status`, 404, { body: aWidget({ name: 'none' }) }),
  ],
  'a PUT drops what it does not name': [
    widget('w', { labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['x/a'] }),
    step(`PUT ${widgets}/w`, 200, {
      body: aWidget({ name: 'w', resourceVersion: '{version}' }, { spec: { size: 2 } }),
      answer: { metadata: { generation: 2 } },
      without: ['metadata.labels', 'metadata.annotations', 'metadata.finalizers'],
    }),
  ],
  'an object has one controlling owner at most': [
    widget('w', { finalizers: ['x/held'] }),
    step(`PATCH ${widgets}/w`, 422, {
      type: merge,
      body: {
        metadata: {
          ownerReferences: ['u1', 'u2'].map((uid) => ({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: uid,
            uid,
            controller: true,
          })),
        },
      },
    }),
    step(`PATCH ${widgets}/w`, 200, { type: merge, body: { metadata: { finalizers: null } } }),
  ],
  'a Namespace is made, labelled and shown with its phase': [
    step('POST /api/v1/namespaces', 201, {
      body: { metadata: { name: '{ns}-y' } },
      answer: { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
    }),
    step('POST /api/v1/namespaces', 422, { body: { metadata: { name: 'Bad_Name' } } }),
    step('DELETE /api/v1/namespaces/{ns}-y', 200, { pick: () => 'deleted' }),
  ],
  'a Deployment and a Pod are completed with what they do not say': [
    step('POST /apis/apps/v1/namespaces/{ns}/deployments?dryRun=All', 201, {
      body: {
        metadata: { name: 'd' },
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } },
        },
      },
    }),
    step('POST /api/v1/namespaces/{ns}/pods?dryRun=All', 422, {
      body: { metadata: { name: 'p' }, spec: { containers: [] } },
    }),
  ],
};
