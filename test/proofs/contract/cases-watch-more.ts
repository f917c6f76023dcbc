import { aWidget, type Cases, step } from './case.ts';
import { watched } from './cases-watch.ts';
import { merge, widgets } from './paths.ts';

const widget = (name: string, labels: object = {}) =>
  step(`POST ${widgets}`, 201, { body: aWidget({ name, labels }), save: { version: 'metadata.resourceVersion' } });

const event = (type: string, name: string) => ({ type, object: { metadata: { name } } });

const refused = (query: string, status: number) => step(`GET ${widgets}?watch=1&timeoutSeconds=1${query}`, status);

export const moreWatchCases: Cases = {
  'a watch may begin with a list, and says where the list ended': [
    widget('a'),
    widget('b'),
    watched(
      '&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan',
      event('ADDED', 'a'),
      event('ADDED', 'b'),
      {
        type: 'BOOKMARK',
        object: { kind: 'Widget', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
      },
    ),
    refused('&sendInitialEvents=true&allowWatchBookmarks=true', 422),
    refused('&resourceVersionMatch=NotOlderThan', 422),
  ],
  'a watch of one object is told of no other': [
    widget('a'),
    widget('b'),
    watched('&fieldSelector=metadata.name%3Db', event('ADDED', 'b')),
    step(`GET ${widgets}/a?watch=1&timeoutSeconds=1`, 200, { answer: { kind: 'Widget', metadata: { name: 'a' } } }),
  ],
  'a watch by labels follows who comes and goes': [
    widget('a', { app: 'x' }),
    step(`PATCH ${widgets}/a`, 200, { type: merge, body: { metadata: { labels: { app: 'y' } } } }),
    step(`PATCH ${widgets}/a`, 200, { type: merge, body: { metadata: { labels: { app: 'x' } } } }),
    step(`DELETE ${widgets}/a`, 200),
    watched(
      '&resourceVersion={version}&labelSelector=app%3Dx',
      event('DELETED', 'a'),
      event('ADDED', 'a'),
      event('DELETED', 'a'),
    ),
  ],
  'a watch from resourceVersion 0 begins with what is there': [
    widget('a'),
    watched('&resourceVersion=0', event('ADDED', 'a')),
  ],
  'a watch that cannot be is refused before it begins': [
    refused('&resourceVersion=x', 500),
    refused('&fieldSelector=spec.size%3D1', 400),
    refused('&labelSelector=b%20d', 400),
  ],
  'a watch of what is not served is not found': [
    step('GET /apis/contract.example.com/v1/namespaces/{ns}/nothings?watch=1', 404),
    step('GET /apis/contract.example.com/v9/namespaces/{ns}/widgets?watch=1', 404),
  ],
  'a watch with bookmarks from no version is told where its beginning ends': [
    widget('a'),
    watched('&allowWatchBookmarks=true', event('ADDED', 'a'), {
      type: 'BOOKMARK',
      object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    }),
  ],
};
