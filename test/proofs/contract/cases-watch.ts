import type { Case, Step } from './case.ts';
import { merge, widgets } from './paths.ts';

const widget = (name: string, spec: object = {}, save: Record<string, string> = {}): Step => ({
  request: `POST ${widgets}`,
  body: { apiVersion: 'contract.example.com/v1', kind: 'Widget', metadata: { name }, spec: { size: 1, ...spec } },
  status: 201,
  save,
});

/** Watches widgets until these events came. */
export const watched = (query: string, ...events: unknown[]): Step => ({
  request: `GET ${widgets}?watch=1&timeoutSeconds=1${query}`,
  status: 200,
  events,
});

const version = { version: 'metadata.resourceVersion' };
const patched = (name: string, body: unknown): Step => ({
  request: `PATCH ${widgets}/${name}`,
  type: merge,
  body,
  status: 200,
});
const event = (type: string, name: string, more: object = {}) => ({
  type,
  object: { kind: 'Widget', metadata: { name }, ...more },
});

export const watchCases: Case[] = [
  {
    name: 'a watch without a resourceVersion begins with what is there',
    steps: [widget('a'), widget('b'), watched('', event('ADDED', 'a'), event('ADDED', 'b'))],
  },
  {
    name: 'a watch from a resourceVersion tells what happened since, in order',
    steps: [
      widget('a', {}, version),
      widget('b'),
      patched('a', { spec: { size: 2 } }),
      { request: `DELETE ${widgets}/a`, status: 200 },
      watched(
        '&resourceVersion={version}',
        event('ADDED', 'b'),
        event('MODIFIED', 'a', { spec: { size: 2 } }),
        event('DELETED', 'a', { spec: { size: 2 } }),
      ),
    ],
  },
  {
    name: 'an object that stops matching a selector is told as deleted, one that starts as added',
    steps: [
      widget('a', {}, version),
      patched('a', { spec: { color: 'blue' } }),
      patched('a', { spec: { size: 2 } }),
      patched('a', { spec: { color: 'red', size: 3 } }),
      watched(
        '&resourceVersion={version}&fieldSelector=spec.color%3Dblue',
        event('ADDED', 'a', { spec: { color: 'blue', size: 1 } }),
        event('MODIFIED', 'a', { spec: { color: 'blue', size: 2 } }),
        event('DELETED', 'a', { spec: { color: 'blue', size: 2 } }),
      ),
    ],
  },
  {
    name: 'a finalizer’s removal and the end of the object are one event',
    steps: [
      {
        request: `POST ${widgets}`,
        body: {
          apiVersion: 'contract.example.com/v1',
          kind: 'Widget',
          metadata: { name: 'a', finalizers: ['x/a'] },
          spec: { size: 1 },
        },
        status: 201,
        save: version,
      },
      { request: `DELETE ${widgets}/a`, status: 200 },
      patched('a', { metadata: { finalizers: null } }),
      watched(
        '&resourceVersion={version}',
        event('MODIFIED', 'a', { metadata: { name: 'a', generation: 2 } }),
        event('DELETED', 'a', { metadata: { name: 'a', finalizers: ['x/a'] } }),
      ),
    ],
  },
  {
    name: 'a watch from long ago is told that its history is gone',
    steps: [
      widget('a'),
      {
        ...watched('&resourceVersion=1', {
          type: 'ERROR',
          object: { kind: 'Status', code: 410, reason: 'Expired', message: /^too old resource version: 1 \(\d+\)$/ },
        }),
        afterCompaction: true,
      },
    ],
  },
  {
    name: 'a watch of tables tells the columns once',
    steps: [
      widget('a'),
      widget('b'),
      {
        ...watched(
          '',
          {
            type: 'ADDED',
            object: {
              kind: 'Table',
              columnDefinitions: [{ name: 'Name' }, {}, {}, {}, {}],
              rows: [{ cells: ['a', 1, null, 'red', /s$/] }],
            },
          },
          {
            type: 'ADDED',
            object: { kind: 'Table', columnDefinitions: null, rows: [{ cells: ['b', 1, null, 'red', /s$/] }] },
          },
        ),
        accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
      },
    ],
  },
  {
    name: 'a watch ends with its time',
    steps: [watched('&fieldSelector=metadata.name%3Dnone')],
  },
];
