import { aWidget, type Cases, step } from './case.ts';
import { merge, widgets } from './paths.ts';

const widget = (name: string, spec: object = {}, save: Record<string, string> = {}) =>
  step(`POST ${widgets}`, 201, { body: aWidget({ name }, { spec: { size: 1, ...spec } }), save });

/** Watches widgets until these events came. */
export const watched = (query: string, ...events: unknown[]) =>
  step(`GET ${widgets}?watch=1&timeoutSeconds=1${query}`, 200, { events });

const version = { version: 'metadata.resourceVersion' };
const patched = (name: string, body: unknown) => step(`PATCH ${widgets}/${name}`, 200, { type: merge, body });
const event = (type: string, name: string, more: object = {}) => ({
  type,
  object: { kind: 'Widget', metadata: { name }, ...more },
});

export const watchCases: Cases = {
  'a watch without a resourceVersion begins with what is there': [
    widget('a'),
    widget('b'),
    watched('', event('ADDED', 'a'), event('ADDED', 'b')),
  ],
  'a watch from a resourceVersion tells what happened since, in order': [
    widget('a', {}, version),
    widget('b'),
    patched('a', { spec: { size: 2 } }),
    step(`DELETE ${widgets}/a`, 200),
    watched(
      '&resourceVersion={version}',
      event('ADDED', 'b'),
      event('MODIFIED', 'a', { spec: { size: 2 } }),
      event('DELETED', 'a', { spec: { size: 2 } }),
    ),
  ],
  'an object that stops matching a selector is told as deleted, one that starts as added': [
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
  'a finalizer’s removal and the end of the object are one event': [
    step(`POST ${widgets}`, 201, { body: aWidget({ name: 'a', finalizers: ['x/a'] }), save: version }),
    step(`DELETE ${widgets}/a`, 200),
    patched('a', { metadata: { finalizers: null } }),
    watched(
      '&resourceVersion={version}',
      event('MODIFIED', 'a', { metadata: { name: 'a', generation: 2 } }),
      event('DELETED', 'a', { metadata: { name: 'a', finalizers: ['x/a'] } }),
    ),
  ],
  'a watch from long ago is told that its history is gone': [
    widget('a'),
    {
      ...watched('&resourceVersion=1', {
        type: 'ERROR',
        object: { kind: 'Status', code: 410, reason: 'Expired', message: /^too old resource version: 1 \(\d+\)$/ },
      }),
      afterCompaction: true,
    },
  ],
  'a watch of tables tells the columns once': [
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
  'a watch ends with its time': [watched('&fieldSelector=metadata.name%3Dnone')],
};
