import type { Case, Step } from './case.ts';
import { configMaps, widgets } from './paths.ts';

/** What kubectl accepts: a table, else the objects. */
export const asTable = 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json';

const widget = (name: string, spec: object, labels: object = {}): Step => ({
  request: `POST ${widgets}`,
  body: {
    apiVersion: 'contract.example.com/v1',
    kind: 'Widget',
    metadata: { name, labels },
    spec: { size: 1, ...spec },
  },
  status: 201,
});

const listed = (query: string, ...names: string[]): Step => ({
  request: `GET ${widgets}?${query}`,
  status: 200,
  answer: { kind: 'WidgetList', items: names.map((name) => ({ kind: 'Widget', metadata: { name } })) },
});

export const readCases: Case[] = [
  {
    name: 'what is not there is not found',
    steps: [
      {
        request: `GET ${widgets}/w`,
        status: 404,
        answer: {
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Failure',
          reason: 'NotFound',
          message: 'widgets.contract.example.com "w" not found',
          details: { name: 'w', group: 'contract.example.com', kind: 'widgets' },
          code: 404,
        },
      },
      { request: 'GET /nowhere', status: 404 },
      { request: 'GET /apis/nowhere/v1', status: 404 },
    ],
  },
  {
    name: 'lists are chosen by label and by selectable field',
    steps: [
      widget('a', {}, { app: 'x' }),
      widget('b', { color: 'blue' }, { app: 'y', old: '1' }),
      widget('c', {}),
      listed('labelSelector=app%3Dx', 'a'),
      listed('labelSelector=app%20in%20(x,y),!old', 'a'),
      listed('labelSelector=app!%3Dx', 'b', 'c'),
      listed('fieldSelector=spec.color%3Dblue', 'b'),
      listed('fieldSelector=spec.color!%3Dblue,metadata.name!%3Da', 'c'),
      listed('fieldSelector=metadata.name%3Dc', 'c'),
      {
        request: `GET ${widgets}?fieldSelector=spec.size%3D1`,
        status: 400,
        answer: { reason: 'BadRequest', message: 'field label not supported: spec.size' },
      },
      { request: `GET ${widgets}?labelSelector=a%3D%3D%3D`, status: 400 },
      { request: `GET ${configMaps}?fieldSelector=data.x%3D1`, status: 400 },
    ],
  },
  {
    name: 'pages are of one resourceVersion, whatever is written meanwhile',
    steps: [
      widget('a', {}),
      widget('b', {}),
      widget('c', {}),
      {
        request: `GET ${widgets}?limit=2`,
        status: 200,
        answer: {
          items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }],
          metadata: { remainingItemCount: 1 },
        },
        save: { next: 'metadata.continue', version: 'metadata.resourceVersion' },
      },
      widget('bb', {}),
      { request: `DELETE ${widgets}/c`, status: 200 },
      {
        request: `GET ${widgets}?limit=2&continue={next}`,
        status: 200,
        answer: { items: [{ metadata: { name: 'c' } }], metadata: { resourceVersion: '{version}' } },
      },
      listed('limit=500', 'a', 'b', 'bb'),
      { request: `GET ${widgets}?continue=nonsense`, status: 400 },
      {
        request: `GET ${widgets}?limit=x`,
        status: 400,
        answer: { message: 'strconv.ParseInt: parsing "x": invalid syntax' },
      },
    ],
  },
  {
    name: 'a list from the future times out',
    steps: [
      {
        request: `GET ${widgets}?resourceVersion=999999999`,
        status: 504,
        answer: {
          reason: 'Timeout',
          message: /^Timeout: Too large resource version: 999999999, current: \d+$/,
          details: { retryAfterSeconds: 1 },
        },
      },
    ],
  },
  {
    name: 'tables carry the columns of the kind and the metadata of each object',
    steps: [
      widget('a', { size: 7 }),
      {
        request: `GET ${widgets}`,
        accept: asTable,
        status: 200,
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
      },
      {
        request: `GET ${widgets}/a?includeObject=Object`,
        accept: asTable,
        status: 200,
        answer: { rows: [{ object: { kind: 'Widget' } }] },
      },
      {
        request: `GET ${configMaps}?limit=1&fieldSelector=metadata.name%3Dnone`,
        accept: asTable,
        status: 200,
        answer: { columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }], rows: [] },
      },
      {
        request: 'GET /api/v1/namespaces/{ns}/events',
        accept: asTable,
        status: 200,
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
      },
    ],
  },
  {
    name: 'discovery tells what is served',
    steps: [
      { request: 'GET /version', status: 200, answer: { major: '1' } },
      { request: 'GET /readyz', status: 200 },
      { request: 'GET /api', status: 200, answer: { kind: 'APIVersions', versions: ['v1'] } },
      {
        request: 'GET /apis/contract.example.com',
        status: 200,
        answer: {
          kind: 'APIGroup',
          name: 'contract.example.com',
          preferredVersion: { groupVersion: 'contract.example.com/v1', version: 'v1' },
        },
      },
      {
        request: 'GET /apis/contract.example.com/v1',
        status: 200,
        answer: {
          kind: 'APIResourceList',
          groupVersion: 'contract.example.com/v1',
        },
      },
    ],
  },
  {
    name: 'a CustomResourceDefinition is completed and established',
    steps: [
      {
        request: 'GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.contract.example.com',
        status: 200,
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
      },
    ],
  },
];
