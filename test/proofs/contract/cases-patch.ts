import { aWidget, type Cases, type Step, step } from './case.ts';
import { aGadget } from './gadget.ts';
import { configMaps, deployments, gadgets, widgets } from './paths.ts';

const types = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

const patched = (path: string, type: keyof typeof types, body: unknown, status = 200) =>
  step(`PATCH ${path}`, status, { type: types[type], body });

const configMap = step(`POST ${configMaps}`, 201, {
  body: { metadata: { name: 'a', labels: { one: '1' } }, data: { x: 'y' } },
  save: { version: 'metadata.resourceVersion' },
});

const widget = step(`POST ${widgets}`, 201, { body: aWidget({ name: 'w' }, { spec: { size: 3, tags: ['a', 'b'] } }) });

const containers = (step: Step): Step => ({
  ...step,
  pick: (body) => {
    const { spec, metadata, ...rest } = body as {
      spec?: { template: { spec: { containers: unknown } } };
      metadata: unknown;
    };
    return spec ? { generation: (metadata as { generation: number }).generation, ...spec.template.spec } : rest;
  },
});

const deployment = containers(
  step(`POST ${deployments}`, 201, {
    body: {
      metadata: { name: 'd' },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'd' } },
        template: {
          metadata: { labels: { app: 'd' } },
          spec: {
            containers: [
              { name: 'one', image: 'i', env: [{ name: 'A', value: '1' }], ports: [{ containerPort: 80 }] },
              { name: 'two', image: 'j' },
            ],
            volumes: [{ name: 'v', emptyDir: {} }],
          },
        },
      },
    },
  }),
);

const strategic = (spec: unknown) =>
  containers(patched(`${deployments}/d`, 'strategic', { spec: { template: { spec } } }));

export const patchCases: Cases = {
  'a merge patch merges objects, replaces lists and removes what is null': [
    widget,
    {
      ...patched(`${widgets}/w`, 'merge', { metadata: { labels: { a: 'b' } }, spec: { tags: ['c'], color: null } }),
      answer: { spec: { size: 3, tags: ['c'], color: 'red' } },
    },
    patched(`${widgets}/w`, 'merge', { metadata: { labels: null }, spec: { tags: null } }),
    patched(`${widgets}/w`, 'merge', { spec: null }, 422),
  ],
  'a merge patch drops nulls of objects within lists, and keeps those that are elements': [
    step(`POST ${gadgets}`, 201, { body: aGadget({ name: 'g' }, { spec: { free: { old: [{ a: 1, b: 2 }] } } }) }),
    patched(`${gadgets}/g`, 'merge', { spec: { free: { old: [{ a: null, b: 2 }, null, [null, { a: null }]] } } }),
    patched(`${gadgets}/g`, 'merge', { spec: { free: { old: null, new: [{ a: null, b: { c: null } }] } } }),
    patched(`${gadgets}/g`, 'json', [{ op: 'replace', path: '/spec/free/new', value: [{ a: null }] }]),
  ],
  'a JSON patch adds, replaces, copies, moves, tests and removes': [
    widget,
    {
      ...patched(`${widgets}/w`, 'json', [
        { op: 'add', path: '/spec/tags/-', value: 'c' },
        { op: 'replace', path: '/spec/size', value: 4 },
        { op: 'copy', from: '/spec/tags/0', path: '/spec/tags/1' },
        { op: 'move', from: '/spec/tags/3', path: '/spec/tags/0' },
        { op: 'test', path: '/spec/size', value: 4 },
        { op: 'remove', path: '/spec/tags/1' },
        { op: 'add', path: '/metadata/labels', value: { 'a/b': 'c' } },
      ]),
      answer: { spec: { size: 4, tags: ['c', 'a', 'b'] } },
    },
    patched(`${widgets}/w`, 'json', [{ op: 'remove', path: '/metadata/labels/a~1b' }]),
  ],
  'a JSON patch whose path is missing is refused and changes nothing': [
    configMap,
    patched(
      `${configMaps}/a`,
      'json',
      [
        { op: 'add', path: '/data/z', value: '1' },
        { op: 'remove', path: '/data/none' },
      ],
      422,
    ),
    patched(`${configMaps}/a`, 'json', [{ op: 'add', path: '/none/deep', value: '1' }], 422),
    step(`GET ${configMaps}/a`, 200, {
      answer: { data: { x: 'y' }, metadata: { resourceVersion: '{version}' } },
      without: ['data.z'],
    }),
  ],
  'a patch that makes the object invalid is refused': [
    configMap,
    patched(`${configMaps}/a`, 'json', [{ op: 'replace', path: '/data', value: { 'b d': 'x' } }], 422),
    patched(`${configMaps}/a`, 'merge', { metadata: { labels: { 'b d': 'x' } } }, 422),
    patched(`${configMaps}/a`, 'merge', { metadata: { name: 'b' } }, 400),
    patched(`${configMaps}/a`, 'strategic', { metadata: { namespace: 'b' } }, 400),
  ],
  'a strategic patch merges lists by their keys': [
    deployment,
    strategic({ containers: [{ name: 'two', image: 'k' }] }),
    strategic({ containers: [{ name: 'three', image: 'l' }] }),
    strategic({ containers: [{ name: 'one', env: [{ name: 'B', value: '2' }], ports: [{ containerPort: 81 }] }] }),
  ],
  'a strategic patch obeys its directives': [
    deployment,
    strategic({ containers: [{ name: 'two', $patch: 'delete' }] }),
    strategic({
      volumes: [{ name: 'v', emptyDir: null, hostPath: { path: '/x' }, $retainKeys: ['name', 'hostPath'] }],
    }),
    strategic({
      containers: [{ name: 'zero', image: 'z' }],
      '$setElementOrder/containers': [{ name: 'zero' }, { name: 'one' }],
    }),
    strategic({ containers: [{ $patch: 'replace' }, { name: 'only', image: 'o' }] }),
  ],
  'a strategic patch adds to finalizers and takes away from them': [
    { ...configMap, body: { metadata: { name: 'a', finalizers: ['x/a', 'x/b'] } } },
    patched(`${configMaps}/a`, 'strategic', { metadata: { finalizers: ['x/c'] } }),
    patched(`${configMaps}/a`, 'strategic', { metadata: { '$deleteFromPrimitiveList/finalizers': ['x/a', 'x/c'] } }),
    patched(`${configMaps}/a`, 'strategic', { metadata: { finalizers: null } }),
  ],
  'a patch under a resourceVersion that is no more is a conflict, in each of the patches': [
    configMap,
    patched(`${configMaps}/a`, 'merge', { data: { x: 'z' } }),
    patched(`${configMaps}/a`, 'merge', { metadata: { resourceVersion: '{version}' } }, 409),
    patched(`${configMaps}/a`, 'strategic', { metadata: { resourceVersion: '{version}' } }, 409),
    patched(`${configMaps}/a`, 'json', [{ op: 'replace', path: '/metadata/resourceVersion', value: '{version}' }], 409),
  ],
  'the status is patched in each of the ways': [
    widget,
    patched(`${widgets}/w/status`, 'json', [{ op: 'add', path: '/status', value: { phase: 'One' } }]),
    patched(`${widgets}/w/status`, 'merge', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }),
    patched(`${widgets}/w/status`, 'merge', { status: { phase: 7 } }, 422),
    step(`GET ${widgets}/w/status`, 200, { answer: { status: { phase: 'One' } } }),
  ],
};
