import type { Case, Step } from './case.ts';
import { configMaps, merge, widgets } from './paths.ts';

const secrets = '/api/v1/namespaces/{ns}/secrets';
const claims = '/api/v1/namespaces/{ns}/persistentvolumeclaims';

const widget = (name: string, metadata: object = {}): Step => ({
  request: `POST ${widgets}`,
  body: { apiVersion: 'contract.example.com/v1', kind: 'Widget', metadata: { name, ...metadata }, spec: { size: 1 } },
  status: 201,
  save: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
});

const deleted = (path: string, body: unknown, status: number): Step => ({ request: `DELETE ${path}`, body, status });

export const objectCases: Case[] = [
  {
    name: 'an immutable ConfigMap or Secret stays as it is',
    steps: [
      {
        request: `POST ${configMaps}`,
        body: { metadata: { name: 'a' }, immutable: true, data: { x: 'y' } },
        status: 201,
      },
      { request: `PATCH ${configMaps}/a`, type: merge, body: { data: { x: 'z' } }, status: 422 },
      { request: `PATCH ${configMaps}/a`, type: merge, body: { immutable: null }, status: 422 },
      { request: `PATCH ${configMaps}/a`, type: merge, body: { metadata: { labels: { a: 'b' } } }, status: 200 },
      {
        request: `POST ${secrets}`,
        body: { metadata: { name: 's' }, type: 'example.com/t', data: { x: 'eA==' } },
        status: 201,
      },
      { request: `PATCH ${secrets}/s`, type: merge, body: { type: 'Opaque' }, status: 422 },
      { request: `PATCH ${secrets}/s`, type: merge, body: { stringData: { x: 'z' } }, status: 200 },
    ],
  },
  {
    name: 'a claim that is not bound stays as it was made, its size included',
    steps: [
      {
        request: `POST ${claims}`,
        body: {
          metadata: { name: 'p' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
            storageClassName: 'none',
          },
        },
        status: 201,
      },
      { request: `PATCH ${claims}/p`, type: merge, body: { spec: { accessModes: ['ReadOnlyMany'] } }, status: 422 },
      {
        request: `PATCH ${claims}/p`,
        type: merge,
        body: { spec: { resources: { requests: { storage: '2Gi' } } } },
        status: 422,
      },
      { request: `PATCH ${claims}/p`, type: merge, body: { metadata: { labels: { a: 'b' } } }, status: 200 },
    ],
  },
  {
    name: 'a dry run goes all the way but the last step',
    steps: [
      {
        ...widget('w'),
        request: `POST ${widgets}?dryRun=All`,
        answer: { metadata: { uid: /./ }, spec: { color: 'red' } },
      },
      { request: `GET ${widgets}/w`, status: 404 },
      { ...widget('w'), request: `POST ${widgets}?dryRun=All&fieldValidation=Strict`, status: 201 },
      widget('w'),
      { ...widget('w'), request: `POST ${widgets}?dryRun=All`, status: 409, save: {} },
      { request: `PATCH ${widgets}/w?dryRun=All`, type: merge, body: { spec: { size: 0 } }, status: 422 },
      { request: `PATCH ${widgets}/w/status?dryRun=All`, type: merge, body: { status: { phase: 'P' } }, status: 200 },
      { ...deleted(`${widgets}/w`, { dryRun: ['All'] }, 200) },
      { request: `DELETE ${widgets}?dryRun=All`, status: 200 },
      { request: `GET ${widgets}/w`, status: 200, without: ['status'] },
    ],
  },
  {
    name: 'a DELETE may be bound to a resourceVersion',
    steps: [
      widget('w'),
      {
        request: `PATCH ${widgets}/w`,
        type: merge,
        body: { spec: { size: 2 } },
        status: 200,
        save: { now: 'metadata.resourceVersion' },
      },
      deleted(`${widgets}/w`, { preconditions: { resourceVersion: '{version}' } }, 409),
      deleted(`${widgets}/w`, { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } }, 409),
      deleted(`${widgets}/w`, { preconditions: { uid: '{uid}', resourceVersion: '{now}' } }, 200),
    ],
  },
  {
    name: 'options of a DELETE are checked',
    steps: [
      widget('w'),
      deleted(`${widgets}/w`, { propagationPolicy: 'Sideways' }, 422),
      deleted(`${widgets}/w`, { orphanDependents: true, propagationPolicy: 'Orphan' }, 422),
      deleted(`${widgets}/w`, { gracePeriodSeconds: -5 }, 200),
    ],
  },
  {
    name: 'finalizers of a built-in kind hold it, too, and deletionTimestamp cannot be set',
    steps: [
      {
        request: `POST ${configMaps}`,
        body: { metadata: { name: 'a', finalizers: ['x/a'], deletionTimestamp: '2020-01-01T00:00:00Z' } },
        status: 201,
        without: ['metadata.deletionTimestamp'],
      },
      deleted(`${configMaps}/a`, {}, 200),
      { request: `POST ${configMaps}`, body: { metadata: { name: 'a' } }, status: 409 },
      { request: `PATCH ${configMaps}/a`, type: merge, body: { data: { x: 'y' } }, status: 200 },
      { request: `PATCH ${configMaps}/a`, type: merge, body: { metadata: { finalizers: null } }, status: 200 },
      { request: `GET ${configMaps}/a`, status: 404 },
    ],
  },
  {
    name: 'a PUT of the status changes the status only',
    steps: [
      widget('w', { labels: { a: 'b' } }),
      {
        request: `PUT ${widgets}/w/status`,
        body: {
          apiVersion: 'contract.example.com/v1',
          kind: 'Widget',
          metadata: { name: 'w', resourceVersion: '{version}' },
          spec: { size: 9 },
          status: { phase: 'Done' },
        },
        status: 200,
        answer: { spec: { size: 1 }, status: { phase: 'Done' }, metadata: { labels: { a: 'b' }, generation: 1 } },
      },
      {
        request: `PUT ${widgets}/w/status`,
        body: {
          apiVersion: 'contract.example.com/v1',
          kind: 'Widget',
          metadata: { name: 'w', resourceVersion: '{version}' },
          spec: { size: 1 },
          status: { phase: 'Again' },
        },
        status: 409,
      },
      {
        request: `PUT ${widgets}/none/status`,
        body: { apiVersion: 'contract.example.com/v1', kind: 'Widget', metadata: { name: 'none' }, spec: { size: 1 } },
        status: 404,
      },
    ],
  },
  {
    name: 'a PUT drops what it does not name',
    steps: [
      widget('w', { labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['x/a'] }),
      {
        request: `PUT ${widgets}/w`,
        body: {
          apiVersion: 'contract.example.com/v1',
          kind: 'Widget',
          metadata: { name: 'w', resourceVersion: '{version}' },
          spec: { size: 2 },
        },
        status: 200,
        answer: { metadata: { generation: 2 } },
        without: ['metadata.labels', 'metadata.annotations', 'metadata.finalizers'],
      },
    ],
  },
  {
    name: 'an object has one controlling owner at most',
    steps: [
      widget('w', {
        finalizers: ['x/held'],
      }),
      {
        request: `PATCH ${widgets}/w`,
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
        status: 422,
      },
      {
        request: `PATCH ${widgets}/w`,
        type: merge,
        body: { metadata: { finalizers: null } },
        status: 200,
      },
    ],
  },
  {
    name: 'a Namespace is made, labelled and shown with its phase',
    steps: [
      {
        request: 'POST /api/v1/namespaces',
        body: { metadata: { name: '{ns}-y' } },
        status: 201,
        answer: { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
      },
      { request: 'POST /api/v1/namespaces', body: { metadata: { name: 'Bad_Name' } }, status: 422 },
      { request: 'DELETE /api/v1/namespaces/{ns}-y', status: 200, pick: () => 'deleted' },
    ],
  },
  {
    name: 'a Deployment and a Pod are completed with what they do not say',
    steps: [
      {
        request: 'POST /apis/apps/v1/namespaces/{ns}/deployments?dryRun=All',
        body: {
          metadata: { name: 'd' },
          spec: {
            selector: { matchLabels: { a: 'b' } },
            template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } },
          },
        },
        status: 201,
      },
      {
        request: 'POST /api/v1/namespaces/{ns}/pods?dryRun=All',
        body: { metadata: { name: 'p' }, spec: { containers: [] } },
        status: 422,
      },
    ],
  },
];
