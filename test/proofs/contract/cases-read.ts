import { aWidget, type Cases, step } from './case.ts';
import { configMaps, widgets } from './paths.ts';

/** What kubectl accepts: a table, else the objects. */
export const asTable = 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json';

const widget = (name: string, spec: object, labels: object = {}) =>
  step(`POST ${widgets}`, 201, { body: aWidget({ name, labels }, { spec: { size: 1, ...spec } }) });

const listed = (query: string, ...names: string[]) =>
  step(`GET ${widgets}?${query}`, 200, {
    answer: { kind: 'WidgetList', items: names.map((name) => ({ kind: 'Widget', metadata: { name } })) },
  });

export const readCases: Cases = {
  'what is not there is not found': [
    step(`GET ${widgets}/w`, 404, {
      answer: {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        reason: 'NotFound',
        message: 'widgets.contract.example.com "w" not found',
        details: { name: 'w', group: 'contract.example.com', kind: 'widgets' },
        code: 404,
      },
    }),
    step('GET /nowhere', 404),
    step('GET /apis/nowhere/v1', 404),
  ],
  'lists are chosen by label and by selectable field': [
    widget('a', {}, { app: 'x' }),
    widget('b', { color: 'blue' }, { app: 'y', old: '1' }),
    widget('c', {}),
    listed('labelSelector=app%3Dx', 'a'),
    listed('labelSelector=app%20in%20(x,y),!old', 'a'),
    listed('labelSelector=app!%3Dx', 'b', 'c'),
    listed('fieldSelector=spec.color%3Dblue', 'b'),
    listed('fieldSelector=spec.color!%3Dblue,metadata.name!%3Da', 'c'),
    listed('fieldSelector=metadata.name%3Dc', 'c'),
    step(`GET ${widgets}?fieldSelector=spec.size%3D1`, 400, {
      answer: { reason: 'BadRequest', message: 'field label not supported: spec.size' },
    }),
    step(`GET ${widgets}?labelSelector=a%3D%3D%3D`, 400),
    step(`GET ${configMaps}?fieldSelector=data.x%3D1`, 400),
  ],
  'pages are of one resourceVersion, whatever is written meanwhile': [
    widget('a', {}),
    widget('b', {}),
    widget('c', {}),
    step(`GET ${widgets}?limit=2`, 200, {
      answer: {
        items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }],
        metadata: { remainingItemCount: 1 },
      },
      save: { next: 'metadata.continue', version: 'metadata.resourceVersion' },
    }),
    widget('bb', {}),
    step(`DELETE ${widgets}/c`, 200),
    step(`GET ${widgets}?limit=2&continue={next}`, 200, {
      answer: { items: [{ metadata: { name: 'c' } }], metadata: { resourceVersion: '{version}' } },
    }),
    listed('limit=500', 'a', 'b', 'bb'),
    step(`GET ${widgets}?continue=nonsense`, 400),
    step(`GET ${widgets}?limit=x`, 400, { answer: { message: 'strconv.ParseInt: parsing "x": invalid syntax' } }),
  ],
  'a list from the future times out': [
    step(`GET ${widgets}?resourceVersion=999999999`, 504, {
      answer: {
        reason: 'Timeout',
        message: /^Timeout: Too large resource version: 999999999, current: \d+$/,
        details: { retryAfterSeconds: 1 },
      },
    }),
  ],
  'tables carry the columns of the kind and the metadata of each object': [
    widget('a', { size: 7 }),
    step(`GET ${widgets}`, 200, {
      accept: asTable,
      answer: {
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1',
        columnDefinitions: [
          { name: 'Name', type: 'string', format: 'name', priority: 0 },
          {
            name: 'Size',
            type: 'integer',
            description: 'Custom resource definition column (in JSONPath format): .spec.size',
          },
          { name: 'Ready', type: 'string' },
          { name: 'Color', type: 'string', priority: 1 },
          { name: 'Age', type: 'date' },
        ],
        rows: [
          {
            cells: ['a', 7, null, 'red', /^\d+s$/],
            object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } },
          },
        ],
      },
    }),
    step(`GET ${widgets}/a?includeObject=Object`, 200, {
      accept: asTable,
      answer: { rows: [{ object: { kind: 'Widget' } }] },
    }),
    step(`GET ${configMaps}?limit=1&fieldSelector=metadata.name%3Dnone`, 200, {
      accept: asTable,
      answer: { columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }], rows: [] },
    }),
    step('GET /api/v1/namespaces/{ns}/events', 200, {
      accept: asTable,
      answer: {
        columnDefinitions: [
          { name: 'Last Seen' },
          { name: 'Type' },
          { name: 'Reason' },
          { name: 'Object' },
          { name: 'Subobject', priority: 1 },
          { name: 'Source', priority: 1 },
          { name: 'Message' },
          { name: 'First Seen', priority: 1 },
          { name: 'Count', priority: 1 },
          { name: 'Name', priority: 1 },
        ],
      },
    }),
  ],
  'discovery tells what is served': [
    step('GET /version', 200, { answer: { major: '1' } }),
    step('GET /readyz', 200),
    step('GET /api', 200, { answer: { kind: 'APIVersions', versions: ['v1'] } }),
    step('GET /apis/contract.example.com', 200, {
      answer: {
        kind: 'APIGroup',
        name: 'contract.example.com',
        preferredVersion: { groupVersion: 'contract.example.com/v1', version: 'v1' },
      },
    }),
    step('GET /apis/contract.example.com/v1', 200, {
      answer: { kind: 'APIResourceList', groupVersion: 'contract.example.com/v1' },
    }),
  ],
  'a CustomResourceDefinition is completed and established': [
    step('GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.contract.example.com', 200, {
      eventually: true,
      answer: {
        spec: { names: { singular: 'widget', listKind: 'WidgetList' }, conversion: { strategy: 'None' } },
        status: {
          conditions: [
            { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts' },
            { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
          ],
          acceptedNames: { kind: 'Widget' },
          storedVersions: ['v1'],
        },
      },
    }),
  ],
};
