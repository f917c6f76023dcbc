import { type Cases, step } from './case.ts';
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
const created = step(`POST ${deployments}`, 201, {
  body: deployment,
  pick: () => ({}),
  save: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
});

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

export const scaleCases: Cases = {
  'a Deployment and a ReplicaSet have a scale': [
    step('GET /apis/apps/v1', 200, {
      pick: (body) =>
        (body as { resources: { name: string }[] }).resources.filter(({ name }) =>
          ['deployments/scale', 'replicasets/scale'].includes(name),
        ),
    }),
  ],
  'the scale of a Deployment is how many Pods it should have and has, and which': [
    created,
    step(`GET ${deployments}/d/scale`, 200, { answer: { status: { selector: 'app in (d,x),tier=a' } } }),
    step(`PATCH ${deployments}/d/scale`, 200, { type: merge, body: { spec: { replicas: 2 } }, pick: withoutFound }),
    step(`GET ${deployments}/none/scale`, 404),
    step(`DELETE ${deployments}/d/scale`, 405),
  ],
  'a scale is written by PUT, patches and apply, by whom is recorded, and nothing else is written': [
    created,
    step(`PUT ${deployments}/d/scale`, 200, { body: of({ replicas: 2 }), pick: withoutFound }),
    step(`PUT ${deployments}/d/scale`, 409, { body: of({ replicas: 3 }, { resourceVersion: '{version}' }) }),
    step(`PATCH ${deployments}/d/scale`, 200, {
      type: 'application/strategic-merge-patch+json',
      body: { spec: { replicas: 3 } },
      pick: withoutFound,
    }),
    step(`PATCH ${deployments}/d/scale`, 200, {
      type: 'application/json-patch+json',
      body: [{ op: 'replace', path: '/spec/replicas', value: 4 }],
      pick: withoutFound,
    }),
    step(`PATCH ${deployments}/d/scale?fieldManager=hpa`, 409, {
      type: 'application/apply-patch+yaml',
      body: of({ replicas: 5 }),
    }),
    step(`PATCH ${deployments}/d/scale?fieldManager=hpa&force=true`, 200, {
      type: 'application/apply-patch+yaml',
      body: of({ replicas: 5 }),
      pick: withoutFound,
    }),
    step(`GET ${deployments}/d`, 200, {
      pick: (body) => {
        const { metadata, spec } = body as { metadata: { managedFields: { subresource?: string }[] }; spec: object };
        return { spec, scaled: metadata.managedFields.filter(({ subresource }) => subresource === 'scale') };
      },
    }),
  ],
  'a scale that cannot be is refused': [
    created,
    step(`PATCH ${deployments}/d/scale`, 422, { type: merge, body: { spec: { replicas: -1 } } }),
    step(`PUT ${deployments}/d/scale`, 400, { body: of({ replicas: 1 }, { name: 'e' }) }),
    step(`PUT ${deployments}/d/scale`, 409, { body: of({ replicas: 1 }, { uid: 'other' }) }),
    step(`PUT ${deployments}/d/scale`, 400, { body: { ...deployment, kind: 'Deployment', apiVersion: 'apps/v1' } }),
  ],
  'who asks for metadata alone gets it alone': ['PartialObjectMetadata', 'PartialObjectMetadataList'].flatMap(
    (kind, index) => [
      ...(index === 0 ? [created] : []),
      step(`GET ${deployments}${index === 0 ? '/d' : ''}`, 200, {
        accept: `application/vnd.kubernetes.nothing,application/json;as=${kind};g=meta.k8s.io;v=v1`,
        pick: withoutOwners,
      }),
    ],
  ),
  'who accepts nothing that there is gets 406': [step(`GET ${deployments}`, 406, { accept: 'text/csv' })],
};
