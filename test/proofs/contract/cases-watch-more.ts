import type { Case, Step } from './case.ts';
import { watched } from './cases-watch.ts';
import { merge, widgets } from './paths.ts';

const widget = (name: string, labels: object = {}): Step => ({
  request: `POST ${widgets}`,
  body: { apiVersion: 'contract.example.com/v1', kind: 'Widget', metadata: { name, labels }, spec: { size: 1 } },
  status: 201,
  save: { version: 'metadata.resourceVersion' },
});

const event = (type: string, name: string) => ({ type, object: { metadata: { name } } });

const refused = (query: string, status: number): Step => ({
  request: `GET ${widgets}?watch=1&timeoutSeconds=1${query}`,
  status,
});

export const moreWatchCases: Case[] = [
  {
    name: 'a watch may begin with a list, and says where the list ended',
    steps: [
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
  },
  {
    name: 'a watch of one object is told of no other',
    steps: [
      widget('a'),
      widget('b'),
      watched('&fieldSelector=metadata.name%3Db', event('ADDED', 'b')),
      {
        request: `GET ${widgets}/a?watch=1&timeoutSeconds=1`,
        status: 200,
        answer: { kind: 'Widget', metadata: { name: 'a' } },
      },
    ],
  },
  {
    name: 'a watch by labels follows who comes and goes',
    steps: [
      widget('a', { app: 'x' }),
      { request: `PATCH ${widgets}/a`, type: merge, body: { metadata: { labels: { app: 'y' } } }, status: 200 },
      { request: `PATCH ${widgets}/a`, type: merge, body: { metadata: { labels: { app: 'x' } } }, status: 200 },
      { request: `DELETE ${widgets}/a`, status: 200 },
      watched(
        '&resourceVersion={version}&labelSelector=app%3Dx',
        event('DELETED', 'a'),
        event('ADDED', 'a'),
        event('DELETED', 'a'),
      ),
    ],
  },
  {
    name: 'a watch from resourceVersion 0 begins with what is there',
    steps: [widget('a'), watched('&resourceVersion=0', event('ADDED', 'a'))],
  },
  {
    name: 'a watch that cannot be is refused before it begins',
    steps: [
      refused('&resourceVersion=x', 500),
      refused('&fieldSelector=spec.size%3D1', 400),
      refused('&labelSelector=b%20d', 400),
    ],
  },
  {
    name: 'a watch of what is not served is not found',
    steps: [
      { request: 'GET /apis/contract.example.com/v1/namespaces/{ns}/nothings?watch=1', status: 404 },
      { request: 'GET /apis/contract.example.com/v9/namespaces/{ns}/widgets?watch=1', status: 404 },
    ],
  },
  {
    name: 'a watch with bookmarks from no version is told where its beginning ends',
    steps: [
      widget('a'),
      watched('&allowWatchBookmarks=true', event('ADDED', 'a'), {
        type: 'BOOKMARK',
        object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
      }),
    ],
  },
];
