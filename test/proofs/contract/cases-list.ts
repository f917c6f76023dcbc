import { aWidget, type Cases, type Step, step } from './case.ts';
import { asTable } from './cases-read.ts';
import { configMaps, widgets } from './paths.ts';

const widget = (name: string, metadata: object = {}) =>
  step(`POST ${widgets}`, 201, { body: aWidget({ name, ...metadata }), save: { version: 'metadata.resourceVersion' } });

const listed = (query: string, status: number, ...names: string[]) =>
  step(
    `GET ${widgets}?${query}`,
    status,
    status === 200 ? { answer: { items: names.map((name) => ({ metadata: { name } })) } } : {},
  );

const token = (name: string, rv: number) =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start: `${name}\u0000` }))
    .toString('base64')
    .replace(/=+$/, '');

export const listCases: Cases = {
  'label selectors know equality, sets and existence': [
    widget('a', { labels: { app: 'x', tier: 'front' } }),
    widget('b', { labels: { app: 'y' } }),
    widget('c'),
    listed('labelSelector=app', 200, 'a', 'b'),
    listed('labelSelector=!app', 200, 'c'),
    listed('labelSelector=app%20notin%20(x)', 200, 'b', 'c'),
    listed('labelSelector=app%3D%3Dx,tier%20in%20(front,back)', 200, 'a'),
    listed('labelSelector=app%3Dx,app%3Dy', 200),
    listed('labelSelector=app%20in%20()', 200),
    listed('labelSelector=b%20d', 400),
    listed('labelSelector=app%3Db%20d', 400),
  ],
  'field selectors are read strictly': [
    widget('a'),
    listed('fieldSelector=metadata.name%3Da,metadata.namespace%3D{ns}', 200, 'a'),
    listed('fieldSelector=metadata.name!%3Da', 200),
    listed('fieldSelector=metadata.name%3Da,spec.color%3Dred', 200, 'a'),
    listed('fieldSelector=metadata.name', 400),
    listed('fieldSelector=metadata.uid%3Da', 400),
    step(`GET ${configMaps}?fieldSelector=metadata.name%3Dnone`, 200, { answer: { kind: 'ConfigMapList', items: [] } }),
  ],
  'a list over all namespaces is one list': [
    widget('a', { labels: { only: '{ns}' } }),
    step('GET /apis/contract.example.com/v1/widgets?labelSelector=only%3D{ns}', 200, {
      answer: { items: [{ metadata: { name: 'a', namespace: '{ns}' } }] },
    }),
    step(`DELETE ${widgets}?labelSelector=none`, 200, { answer: { items: [] } }),
  ],
  'pages go on where the last one ended, to the end': [
    widget('a'),
    widget('b'),
    widget('c'),
    widget('d'),
    widget('e'),
    { ...listed('limit=2', 200, 'a', 'b'), save: { next: 'metadata.continue' } },
    { ...listed('limit=2&continue={next}', 200, 'c', 'd'), save: { next: 'metadata.continue' } },
    { ...listed('limit=2&continue={next}', 200, 'e'), without: ['metadata.remainingItemCount'] },
    { ...listed('limit=1&labelSelector=!x', 200, 'a'), without: ['metadata.remainingItemCount'] },
    listed('limit=0', 200, 'a', 'b', 'c', 'd', 'e'),
    listed('limit=1&continue={next}&resourceVersion=5', 400),
  ],
  'a page whose version is compacted is told so, and how to go on': [
    widget('a'),
    widget('b'),
    { ...listed(`limit=1&continue=${token('a', 1)}`, 410), afterCompaction: true },
    { ...listed(`limit=1&continue=${token('a', -1)}`, 200, 'b') },
  ],
  'a list is of the resourceVersion it is asked for': [
    widget('a'),
    { ...widget('b'), save: { second: 'metadata.resourceVersion' } },
    widget('c'),
    listed('resourceVersion={second}&resourceVersionMatch=Exact', 200, 'a', 'b'),
    listed('resourceVersion={second}&resourceVersionMatch=NotOlderThan', 200, 'a', 'b', 'c'),
    listed('resourceVersion={second}', 200, 'a', 'b', 'c'),
    listed('resourceVersion=0', 200, 'a', 'b', 'c'),
    listed('resourceVersionMatch=Exact', 422),
    listed('resourceVersion=0&resourceVersionMatch=Exact', 422),
    listed('resourceVersion=x', 400),
    { ...listed('resourceVersion=1&resourceVersionMatch=Exact', 410), afterCompaction: true },
    step(`GET ${widgets}/a?resourceVersion=0`, 200),
    step(`GET ${widgets}/a?resourceVersion=x`, 500),
  ],
  'tables of the kinds that functions use have the columns of the real ones': [
    ...(
      [
        ['/api/v1/namespaces/{ns}/configmaps', { data: { a: 'b' } }],
        ['/api/v1/namespaces/{ns}/secrets', { stringData: { a: 'b' } }],
        ['/api/v1/namespaces/{ns}/serviceaccounts', {}],
        [
          '/api/v1/namespaces/{ns}/persistentvolumeclaims',
          {
            spec: {
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: '1Gi' } },
              storageClassName: 'none',
            },
          },
        ],
        ['/apis/coordination.k8s.io/v1/namespaces/{ns}/leases', { spec: { holderIdentity: 'me' } }],
        [
          '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings',
          {
            roleRef: { kind: 'ClusterRole', name: 'view', apiGroup: 'rbac.authorization.k8s.io' },
            subjects: [
              { kind: 'ServiceAccount', name: 's', namespace: '{ns}' },
              { kind: 'User', name: 'u' },
              { kind: 'Group', name: 'g' },
            ],
          },
        ],
        [
          '/apis/apps/v1/namespaces/{ns}/deployments',
          {
            spec: {
              replicas: 0,
              selector: { matchLabels: { a: 'b' } },
              template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
            },
          },
        ],
      ] as const
    ).flatMap(([path, fields]): Step[] => [
      step(`POST ${path}`, 201, { body: { metadata: { name: 't' }, ...fields }, pick: () => 'made' }),
      step(`GET ${path}?fieldSelector=metadata.name%3Dt&includeObject=None`, 200, { accept: asTable }),
    ]),
    step('GET /api/v1/namespaces/{ns}?includeObject=None', 200, { accept: asTable }),
    step(
      'GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.contract.example.com?includeObject=None',
      200,
      { accept: asTable },
    ),
  ],
};
