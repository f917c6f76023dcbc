import { aWidget, type Cases, step } from './case.ts';
import { applied, made } from './cases-apply.ts';
import { apply, configMaps, deployments, merge, widgets } from './paths.ts';

const map = (manager: string, data: unknown, status = 200, query = '') =>
  step(`PATCH ${configMaps}/c?fieldManager=${manager}${query}`, status, {
    type: apply,
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data },
  });

const deployment = (manager: string, containers: unknown[], status = 200, query = '') =>
  step(`PATCH ${deployments}/d?fieldManager=${manager}${query}`, status, {
    type: apply,
    body: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: {
        ...(status === 201 && { replicas: 0, selector: { matchLabels: { app: 'd' } } }),
        template: { ...(status === 201 && { metadata: { labels: { app: 'd' } } }), spec: { containers } },
      },
    },
    pick: (body) => {
      const { metadata, spec, ...rest } = body as {
        metadata: { managedFields: { manager: string }[] };
        spec?: { template: { spec: { containers: unknown } } };
      };
      if (!spec) return rest;
      const managedFields = metadata.managedFields.filter((entry) => entry.manager !== 'kube-controller-manager');
      return { managedFields, containers: spec.template.spec.containers };
    },
  });

export const moreApplyCases: Cases = {
  'managers that agree share a field, and it stays until the last lets it go': [
    map('one', { x: '1', y: '1' }, 201),
    map('two', { x: '1' }),
    { ...map('one', { y: '1' }), answer: { data: { x: '1', y: '1' } } },
    { ...map('two', {}), answer: { data: { y: '1' } }, without: ['data.x'] },
  ],
  'each field in conflict is named, with each manager who has it': [
    map('one', { x: '1', y: '1' }, 201),
    map('two', { x: '1' }),
    map('three', { x: '2', y: '2', z: '2' }, 409),
    step(`PATCH ${configMaps}/c?fieldManager=editor`, 200, { type: merge, body: { data: { y: '3' } } }),
    map('three', { x: '2', y: '2' }, 409),
    map('three', { x: '2', y: '2' }, 200, '&force=true'),
    map('one', { x: '1', y: '1' }, 409),
  ],
  'an apply as a dry run says what would be and changes nothing': [
    map('one', { x: '1' }, 201, '&dryRun=All'),
    step(`GET ${configMaps}/c`, 404),
    map('one', { x: '1' }, 201),
    map('one', { x: '2' }, 200, '&dryRun=All'),
    map('two', { x: '2' }, 409, '&dryRun=All'),
    step(`GET ${configMaps}/c`, 200, { answer: { data: { x: '1' } } }),
  ],
  'an apply under a resourceVersion that is no more is a conflict': [
    { ...map('one', { x: '1' }, 201), save: { version: 'metadata.resourceVersion' } },
    map('one', { x: '2' }),
    {
      ...map('one', { x: '3' }, 409),
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'c', resourceVersion: '{version}' },
        data: { x: '3' },
      },
    },
  ],
  'an apply of the object leaves its status, and an apply of the status its spec': [
    { ...applied('one', { size: 3 }, { status: { phase: 'Mine' } }), status: 201, without: ['status'] },
    {
      ...applied('two', undefined, { status: { phase: 'Done' } }),
      request: `PATCH ${widgets}/w/status?fieldManager=two`,
      answer: { status: { phase: 'Done' }, spec: { size: 3 } },
    },
    { ...applied('one', { size: 3 }, { status: { phase: 'Mine' } }), answer: { status: { phase: 'Done' } } },
    {
      ...applied('three', { size: 9 }, { status: { phase: 'Done' } }),
      request: `PATCH ${widgets}/w/status?fieldManager=three`,
      answer: { spec: { size: 3 } },
    },
  ],
  'an apply of what the schema does not know is pruned with a warning, or refused when strict': [
    { ...applied('one', { size: 3, bogus: 1 }), status: 500 },
    { ...applied('one', { size: 3, bogus: 1 }, {}, '&fieldValidation=Strict'), status: 500 },
    { ...applied('one', { size: 'x' }), status: 500 },
    { ...applied('one', { size: 0 }), status: 422 },
    { ...map('one', { x: 1 }, 500) },
    { ...map('one', {}, 500), body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, bogus: {} } },
  ],
  'an apply names the object of its path, in its kind and version': [
    { ...made, body: aWidget({ name: 'v' }, {}), status: 400 },
    { ...made, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'w' } }, status: 400 },
    { ...made, body: { metadata: { name: 'w' }, spec: { size: 1 } }, status: 400 },
    { ...made, body: { apiVersion: 'contract.example.com/v1', kind: 'Widget', spec: { size: 1 } }, status: 400 },
  ],
  'what was created and updated without apply has its managers, too': [
    step(`POST ${widgets}?fieldManager=creator`, 201, {
      body: aWidget({ name: 'w', labels: { a: 'b' }, finalizers: ['x/a'] }, { spec: { size: 1, tags: ['a'] } }),
    }),
    step(`PATCH ${widgets}/w/status?fieldManager=reporter`, 200, {
      type: merge,
      body: { status: { phase: 'Done', conditions: [{ type: 'Ready', status: 'True' }] } },
    }),
    step(`PATCH ${widgets}/w?fieldManager=editor`, 200, {
      type: merge,
      body: { metadata: { finalizers: null, annotations: { c: 'd' } }, spec: { size: 2 } },
    }),
    step(`PATCH ${widgets}/w`, 200, { type: merge, body: { spec: { size: 3 } } }),
  ],
  'managedFields are wiped by an empty list, and come back with the next apply': [
    made,
    step(`PATCH ${widgets}/w`, 200, {
      type: merge,
      body: { metadata: { managedFields: [{}] } },
      without: ['metadata.managedFields'],
    }),
    { ...applied('two', { size: 4 }), status: 409 },
    applied('two', { size: 5 }, {}, '&force=true'),
  ],
  'a list of type map belongs to its managers element by element': [
    deployment('one', [{ name: 'a', image: 'i', env: [{ name: 'X', value: '1' }] }], 201),
    deployment('two', [{ name: 'b', image: 'j' }]),
    deployment('two', [{ name: 'a', image: 'k' }], 409),
    deployment('two', [{ name: 'a', image: 'k' }], 200, '&force=true'),
  ],
  'an element is named once, and by its key': [
    made,
    {
      ...applied('one', undefined, { status: { conditions: [{ type: 'A' }, { type: 'A' }] } }),
      request: `PATCH ${widgets}/w/status?fieldManager=one`,
      status: 500,
    },
    {
      ...applied('one', undefined, { status: { conditions: [{ status: 'True' }] } }),
      request: `PATCH ${widgets}/w/status?fieldManager=one`,
      status: 500,
    },
  ],
};
