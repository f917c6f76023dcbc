import type { Case } from './case.ts';
import { deployments, merge } from './paths.ts';

const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1' };

const labels = { app: 'd', tier: 'a' };
const deployment = {
  metadata: { name: 'd' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { tier: 'a' }, matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'd'] }] },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c:1' }] } },
  },
};
const of = (spec: object, metadata: object = {}) => ({ ...scale, metadata: { name: 'd', ...metadata }, spec });
const created = {
  request: `POST ${deployments}`,
  body: deployment,
  status: 201,
  pick: () => ({}),
  save: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
};

/** How many Pods it has by then is the controller's. */
const withoutFound = (body: unknown) => {
  const { status, ...rest } = body as { status?: { selector?: string } };
  return { ...rest, status: { selector: status?.selector } };
};

/** Who owns which field is another case's question, and the annotation is the Deployment controller's, a moment later. */
const withoutOwners = (body: unknown) =>
  JSON.parse(
    JSON.stringify(body, (key, value) => (key === 'managedFields' || key === 'annotations' ? undefined : value)),
  ) as unknown;

export const scaleCases: Case[] = [
  {
    name: 'a Deployment and a ReplicaSet have a scale',
    steps: [
      {
        request: 'GET /apis/apps/v1',
        status: 200,
        pick: (body) =>
          (body as { resources: { name: string }[] }).resources.filter(({ name }) =>
            ['deployments/scale', 'replicasets/scale'].includes(name),
          ),
      },
    ],
  },
  {
    name: 'the scale of a Deployment is how many Pods it should have and has, and which',
    steps: [
      created,
      { request: `GET ${deployments}/d/scale`, status: 200, answer: { status: { selector: 'app in (d,x),tier=a' } } },
      {
        request: `PATCH ${deployments}/d/scale`,
        type: merge,
        body: { spec: { replicas: 2 } },
        status: 200,
        pick: withoutFound,
      },
      { request: `GET ${deployments}/none/scale`, status: 404 },
      { request: `DELETE ${deployments}/d/scale`, status: 405 },
    ],
  },
  {
    name: 'a scale is written by PUT, patches and apply, by whom is recorded, and nothing else is written',
    steps: [
      created,
      { request: `PUT ${deployments}/d/scale`, body: of({ replicas: 2 }), status: 200, pick: withoutFound },
      {
        request: `PUT ${deployments}/d/scale`,
        body: of({ replicas: 3 }, { resourceVersion: '{version}' }),
        status: 409,
      },
      {
        request: `PATCH ${deployments}/d/scale`,
        type: 'application/strategic-merge-patch+json',
        body: { spec: { replicas: 3 } },
        status: 200,
        pick: withoutFound,
      },
      {
        request: `PATCH ${deployments}/d/scale`,
        type: 'application/json-patch+json',
        body: [{ op: 'replace', path: '/spec/replicas', value: 4 }],
        status: 200,
        pick: withoutFound,
      },
      {
        request: `PATCH ${deployments}/d/scale?fieldManager=hpa`,
        type: 'application/apply-patch+yaml',
        body: of({ replicas: 5 }),
        status: 409,
      },
      {
        request: `PATCH ${deployments}/d/scale?fieldManager=hpa&force=true`,
        type: 'application/apply-patch+yaml',
        body: of({ replicas: 5 }),
        status: 200,
        pick: withoutFound,
      },
      {
        request: `GET ${deployments}/d`,
        status: 200,
        pick: (body) => {
          const { metadata, spec } = body as { metadata: { managedFields: { subresource?: string }[] }; spec: object };
          return { spec, scaled: metadata.managedFields.filter(({ subresource }) => subresource === 'scale') };
        },
      },
    ],
  },
  {
    name: 'a scale that cannot be is refused',
    steps: [
      created,
      { request: `PATCH ${deployments}/d/scale`, type: merge, body: { spec: { replicas: -1 } }, status: 422 },
      { request: `PUT ${deployments}/d/scale`, body: of({ replicas: 1 }, { name: 'e' }), status: 400 },
      { request: `PUT ${deployments}/d/scale`, body: of({ replicas: 1 }, { uid: 'other' }), status: 409 },
      {
        request: `PUT ${deployments}/d/scale`,
        body: { ...deployment, kind: 'Deployment', apiVersion: 'apps/v1' },
        status: 400,
      },
    ],
  },
  {
    name: 'who asks for metadata alone gets it alone',
    steps: ['PartialObjectMetadata', 'PartialObjectMetadataList'].flatMap((kind, index) => [
      ...(index === 0 ? [created] : []),
      {
        request: `GET ${deployments}${index === 0 ? '/d' : ''}`,
        accept: `application/vnd.kubernetes.nothing,application/json;as=${kind};g=meta.k8s.io;v=v1`,
        status: 200,
        pick: withoutOwners,
      },
    ]),
  },
  {
    name: 'who accepts nothing that there is gets 406',
    steps: [{ request: `GET ${deployments}`, accept: 'text/csv', status: 406 }],
  },
];
