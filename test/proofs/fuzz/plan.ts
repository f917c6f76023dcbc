import { readdirSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import * as z from 'zod';
import { documents } from '../../../deploy/manifests.ts';
import { ImagePublished } from '../../../shared/events.ts';
import { arbitraryOf, type Hint, type Schema } from './arbitrary-of.ts';
import { coherentLab, coherentMachine } from './coherent.ts';

/** One thing that an author does. */
export type Step =
  | { do: 'create' | 'update'; kind: string; name: string; content: Content }
  | { do: 'annotate'; kind: string; name: string; metadata: Metadata }
  | { do: 'delete'; kind: string; name: string }
  | { do: 'publish'; data: unknown; isSigned: boolean }
  | { do: 'wait' };

interface Metadata {
  labels: Record<string, unknown>;
  annotations: Record<string, unknown>;
}

interface Content {
  metadata: Metadata;
  spec: unknown;
  status?: unknown;
}

/** What authors do, one after the other. `tenant-own` in any string stands for the namespace of the run. */
export type Plan = readonly Step[];

const ownWord = 'tenant-own';

export interface AuthoredKind {
  apiVersion: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  spec: Schema;
  status: Schema;
}

interface Definition {
  spec: {
    group: string;
    scope: string;
    names: { kind: string; plural: string };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
}

const crds = new URL('../../../crds/', import.meta.url);

/** All kinds that the project defines, by apiVersion and kind: new ones are written by themselves. */
export const authoredKinds: ReadonlyMap<string, AuthoredKind> = new Map(
  readdirSync(crds)
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => documents(readFileSync(new URL(file, crds), 'utf8')) as unknown as Definition[])
    .map(({ spec: { group, scope, names, versions } }) => {
      const { name = '', schema } = versions[0] ?? {};
      const { spec = {}, status = {} } = schema?.openAPIV3Schema.properties ?? {};
      const apiVersion = `${group}/${name}`;
      return [
        `${apiVersion} ${names.kind}`,
        { apiVersion, ...names, namespaced: scope === 'Namespaced', spec, status },
      ];
    }),
);

/** All labels, annotations and finalizers that the code has a word for. */
const ownKeys = (() => {
  const found = new Set<string>();
  for (const folder of ['../../../shared/', '../../../functions/']) {
    const at = new URL(folder, import.meta.url);
    for (const file of readdirSync(at, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts')))
      for (const [key] of readFileSync(new URL(file, at), 'utf8').matchAll(/pelotech\.ot\/[a-z][a-z-]*[a-z]/g))
        found.add(key);
  }
  return [...found].filter((key) => !key.startsWith('pelotech.ot/v1')).sort();
})();

/** Few, so that steps meet the objects of others, and names of what is made for them. */
const names = fc.constantFrom('a', 'b', 'golden', 'a-root', 'a-cloud-init', 'constructor', 'x'.repeat(60), 'a.b');
const labNames = fc.constantFrom(ownWord, `${ownWord}-2`, `${ownWord}-constructor`);
const images = fc.constantFrom('golden', 'private', 'a', 'b', ownWord, 'constructor', 'missing.image', 'x'.repeat(200));
const namespaces = fc.constantFrom(
  'vmdi-farm',
  'vmdi-farm',
  ownWord,
  ownWord,
  'victim',
  'sync-operator',
  `ws-${ownWord}`,
  'missing',
);

const pathPart = fc.constantFrom(
  'a',
  'b.qcow2',
  'a%2e',
  '%2F..%2F',
  'ä',
  "'",
  '{{a}}',
  '$(a)',
  '*',
  '**',
  ':',
  ';',
  '"',
  '\\',
  '%00',
);
const path = fc.array(pathPart, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const places = [
  ...['https://s3.test/images/', 'https://open.test/', 'https://s3.test/private/', 'http://169.254.169.254/latest/'],
  ...[
    'https://s3.test:443/images/',
    'https://S3.TEST/images/',
    'http://127.0.0.1:1/a/',
    'https://[::1]/a/',
    'https://xn--a/a/',
  ],
];
const url = fc.oneof(
  { arbitrary: fc.tuple(fc.constantFrom(...places), path).map((parts) => parts.join('')), weight: 8 },
  { arbitrary: fc.constantFrom(...places).map((place) => place + 'a'.repeat(2048 - place.length)), weight: 1 },
  {
    arbitrary: fc
      .tuple(fc.constantFrom(...places), fc.string({ unit: 'binary', maxLength: 20 }))
      .map((parts) => parts.join('')),
    weight: 1,
  },
);

/** Of an image: what its rules ask of several fields together. */
const consistent = (image: unknown) => {
  const { secretRef, checksum, sourceType = 's3', url: at, ...rest } = image as Record<string, string | undefined>;
  return {
    ...rest,
    sourceType,
    url: sourceType === 'registry' ? at?.replace(/^https?/, 'docker') : at,
    ...(sourceType === 's3' || secretRef ? { secretRef: secretRef ?? 's3-reader' } : {}),
    ...(sourceType === 'http' && checksum ? { checksum } : {}),
  };
};

const oneOfThem = (user: unknown) => {
  const { plain_text_passwd, hashed_passwd, passwordSecretRef, ...rest } = user as Record<string, unknown>;
  const [chosen] = Object.entries({ passwordSecretRef, plain_text_passwd, hashed_passwd }).filter(([, value]) => value);
  return { ...rest, ...(chosen ? Object.fromEntries([chosen]) : {}) };
};

/** A gateway in the network of the address beside it. */
const withGateway = (one: unknown) => {
  const { gateway, ...rest } = one as { gateway?: string; ipAddress?: string };
  const network = rest.ipAddress?.split('/')[0];
  return gateway !== undefined && network ? { ...rest, gateway: network } : rest;
};

const withinCidr = (network: unknown) => {
  const { gatewayIP, ...rest } = network as { gatewayIP?: string; cidr?: string };
  const own = rest.cidr?.split('/')[0];
  return gatewayIP !== undefined && own ? { ...rest, gatewayIP: own } : rest;
};

type Make = (usual: fc.Arbitrary<unknown>, schema: Schema) => fc.Arbitrary<unknown>;
const mostly =
  (...values: string[]): Make =>
  (usual) =>
    fc.oneof({ arbitrary: fc.constantFrom(...values), weight: 3 }, usual);
const fitted =
  (...values: string[]): Make =>
  (usual, { pattern }) =>
    fc.oneof(usual, fc.constantFrom(...values.filter((one) => pattern === undefined || new RegExp(pattern).test(one))));

/** By the fields that an object has. */
const byFields: readonly (readonly [readonly string[], Make])[] = [
  [['diskSize', 'url', 'snapshotClass'], (usual) => usual.map(consistent)],
  [['hashed_passwd'], (usual) => usual.map(oneOfThem)],
  [['gateway'], (usual) => usual.map(withGateway)],
  [['gatewayIP'], (usual) => usual.map(withinCidr)],
];

/** By the end of a path: references that meet something, and what no schema says of a URL. */
const byPath: readonly (readonly [RegExp, Make])[] = [
  [/\.url$/, () => url],
  [/\.(vmDiskImageRef\.name|backingVMDiskImage)$/, () => images],
  [/\.vmDiskImageRef\.namespace$/, () => namespaces],
  [/[cC]lass$/, mostly('gp3', 'ebs-snapshot')],
  [/\.passwordSecretRef\.name$/, () => fc.constantFrom('password', 'secret', 'a-cloud-init', 'missing')],
  [/\.secretRef$/, mostly('s3-reader', 'secret')],
  [/\.network$/, fitted('net', 'control-net', 'net-1', 'victim/net', 'ws-victim-lab/net', 'constructor')],
  [/\.networks\[\]\.name$/, () => fc.constantFrom('net', 'control-net', 'net-1', 'constructor', 'net-addresses')],
  [/\.source\.image$/, (usual) => fc.oneof(usual, url)],
];

const hint: Hint = (at, schema, usual) => {
  const fields = new Set(Object.keys(schema.properties ?? {}));
  const [, make] =
    byFields.find(([all]) => all.every((field) => fields.has(field))) ?? byPath.find(([path]) => path.test(at)) ?? [];
  return make?.(usual, schema);
};

/** What makes the parts of a spec fit together, by kind; some remain as they come, for the messages about faults. */
const coherent: Readonly<Record<string, (spec: unknown) => unknown>> = {
  'pelotech.ot/v1alpha1 Workspace': coherentLab,
  'pelotech.ot/v1alpha1 VirtualMachine': coherentMachine,
};

const specs = new Map(
  [...authoredKinds].map(([id, { spec, status }]) => {
    const any = arbitraryOf(spec, hint);
    const make = coherent[id];
    const some = make ? fc.oneof({ arbitrary: any.map(make), weight: 4 }, { arbitrary: any, weight: 1 }) : any;
    return [id, { spec: some, status: arbitraryOf(status, hint) }] as const;
  }),
);

const labelValue = fc.oneof(
  fc.constantFrom('', 'a', 'no', '1e3', 'x'.repeat(63), 'workspaces', 'ensure-vmdi', ownWord),
  fc.stringMatching(/^[A-Za-z0-9]{1,20}$/),
);
const annotationValue = arbitraryOf({ type: 'string', maxLength: 2048 }) as fc.Arbitrary<string>;
const keys = fc.oneof(
  { arbitrary: fc.constantFrom(...ownKeys), weight: 6 },
  fc.constantFrom(
    'a',
    'app.kubernetes.io/created-by',
    'app.kubernetes.io/managed-by',
    'constructor',
    'cdi.kubevirt.io/storage.usePopulator',
  ),
);
const dictionary = (value: fc.Arbitrary<string>) =>
  fc.array(fc.tuple(keys, value), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
const metadata: fc.Arbitrary<Metadata> = fc.record({
  labels: dictionary(labelValue),
  annotations: dictionary(annotationValue),
});

const ofKind = (make: (id: string, kind: AuthoredKind) => fc.Arbitrary<Step>) =>
  fc.oneof(
    ...[...authoredKinds].map(([id, kind]) => ({
      arbitrary: make(id, kind),
      weight: kind.apiVersion.startsWith('kupenstack') ? 1 : 3,
    })),
  );
const nameOf = (kind: AuthoredKind) => (kind.namespaced ? names : labNames);

/** A field of another type, or one that does not exist. */
const spoil = (spec: unknown, [field, value]: readonly [number, unknown]) => {
  const entries = Object.entries(spec as object);
  const [name = 'unknown'] = entries[field % (entries.length + 1)] ?? [];
  return Object.fromEntries([...entries, [name, value]]);
};

const content = (id: string): fc.Arbitrary<Content> => {
  const { spec = fc.constant({}), status = fc.constant({}) } = specs.get(id) ?? {};
  const spoiled = fc.tuple(spec, fc.tuple(fc.nat(20), fc.jsonValue())).map(([good, how]) => spoil(good, how));
  return fc
    .record({
      metadata,
      spec: fc.oneof({ arbitrary: spec, weight: 19 }, { arbitrary: spoiled, weight: 1 }),
      status: fc.oneof({ arbitrary: fc.constant(undefined), weight: 9 }, { arbitrary: status, weight: 1 }),
    })
    .map(({ status: one, ...rest }) => (one === undefined ? rest : { ...rest, status: one }));
};

const publication = arbitraryOf(z.toJSONSchema(ImagePublished) as Schema, (at, schema, usual) =>
  at === '.name'
    ? fc.oneof(images, usual)
    : at === '.namespace'
      ? fc.oneof(namespaces, usual)
      : hint(at, schema, usual),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  ...(
    [
      ['create', 12],
      ['update', 5],
    ] as const
  ).map(([does, weight]) => ({
    weight,
    arbitrary: ofKind((id, kind) =>
      fc.record({ do: fc.constant(does), kind: fc.constant(id), name: nameOf(kind), content: content(id) }),
    ),
  })),
  {
    weight: 2,
    arbitrary: ofKind((id, kind) =>
      fc.record({ do: fc.constant('annotate' as const), kind: fc.constant(id), name: nameOf(kind), metadata }),
    ),
  },
  {
    weight: 2,
    arbitrary: ofKind((id, kind) =>
      fc.record({ do: fc.constant('delete' as const), kind: fc.constant(id), name: nameOf(kind) }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('publish' as const), data: publication, isSigned: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'wait' as const }) },
);

export const plans: fc.Arbitrary<Plan> = fc.array(step, { minLength: 1, maxLength: 32, size: 'max' });

/** The plan of a run: its own namespace in place of the word for it. */
export const placed = (plan: Plan, namespace: string): Plan =>
  JSON.parse(JSON.stringify(plan).replaceAll(ownWord, namespace));
