import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/*
 * Writes protobuf-fields.json: the fields of the built-in kinds that the server takes, read off their Go types. Run it where there is Go,
 * when the local API server becomes that of another Kubernetes: node deploy/local/api-server/protobuf-fields.ts v0.34.4
 */

const packages = {
  meta: 'apimachinery/pkg/apis/meta/v1',
  ...Object.fromEntries(
    [
      ...['admissionregistration', 'apps', 'authentication', 'authorization', 'autoscaling', 'batch', 'coordination'],
      ...['core', 'events', 'networking', 'rbac', 'storage'],
    ].map((group) => [group, `api/${group}/v1`]),
  ),
};

const kinds = [
  ...['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'].map((kind) => `admissionregistration.${kind}`),
  ...['Deployment', 'ReplicaSet'].map((kind) => `apps.${kind}`),
  ...['SelfSubjectReview', 'TokenRequest', 'TokenReview'].map((kind) => `authentication.${kind}`),
  ...['SelfSubjectAccessReview', 'SelfSubjectRulesReview', 'SubjectAccessReview'].map(
    (kind) => `authorization.${kind}`,
  ),
  ...['autoscaling.Scale', 'batch.Job', 'coordination.Lease', 'events.Event', 'meta.DeleteOptions'],
  ...['ConfigMap', 'Event', 'Namespace', 'Node', 'PersistentVolumeClaim', 'Pod', 'Secret', 'Service'].map(
    (kind) => `core.${kind}`,
  ),
  ...['core.ServiceAccount', 'networking.NetworkPolicy', 'storage.StorageClass'],
  ...['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'].map((kind) => `rbac.${kind}`),
];

/** What Go writes by code of its own. */
const special: Record<string, string> = {
  'meta.Time': 'time',
  'meta.MicroTime': 'microtime',
  'meta.FieldsV1': 'raw',
  'resource.Quantity': 'quantity',
  'intstr.IntOrString': 'int-or-string',
  'runtime.RawExtension': 'raw',
  'types.UID': 'text',
  'types.NodeName': 'text',
};
const plain: Record<string, string> = { string: 'text', '[]byte': 'bytes', bool: 'bool', int32: 'int', int64: 'int' };

const version = process.argv[2] ?? 'v0.34.4';
const sources = new Map(Object.entries(packages).map(([name, path]) => [name, typesOf(path)]));

function typesOf(path: string) {
  const [module = '', ...inside] = path.split('/');
  const found = execFileSync('go', ['mod', 'download', '-json', `k8s.io/${module}@${version}`], { encoding: 'utf8' });
  const folder = [(JSON.parse(found) as { Dir: string }).Dir, ...inside].join('/');
  return readFileSync(`${folder}/types.go`, 'utf8');
}

/** A Go type as the table names it: `[]` many, `{}` a map, `<>` a message around its items, `*` a pointer, whose zero is meant. */
function typeIn(inside: string, go: string): string {
  if (plain[go]) return plain[go];
  if (go.startsWith('*')) return `*${typeIn(inside, go.slice(1))}`;
  if (go.startsWith('[]')) return `[]${typeIn(inside, go.slice(2))}`;
  const [, value] = /^map\[\w+\](.+)$/.exec(go) ?? [];
  if (value) return `{}${typeIn(inside, value)}`;
  const [name = '', owner = inside] = go.replace(/v1\./, '.').split('.').reverse();
  const full = `${owner || 'core'}.${name}`;
  if (special[full]) return special[full];
  const [, other] = new RegExp(`^type ${name} ([^ \\n]+)$`, 'm').exec(sources.get(owner || 'core') ?? '') ?? [];
  if (other?.startsWith('[]')) return `<>${typeIn(owner, other)}`;
  return other ? typeIn(owner, other) : full;
}

const field =
  /^\t(?:\w+ +)?([*[\]{}\w.]+) +`json:"(?:([^",]*)(,[^"]*)?)?"(?: \w+:"[^"]*")*? protobuf:"\w+,(\d+)[^`]*`/gm;

function messageOf(full: string) {
  const [owner = '', name = ''] = full.split('.');
  const [, body] = new RegExp(`^type ${name} struct {\\n(.*?)^}`, 'ms').exec(sources.get(owner) ?? '') ?? [];
  if (body === undefined) throw new Error(`k8s.io has no struct ${full}`);
  return [...body.matchAll(field)].map(([, go = '', json = '', options = '', number]) => {
    const optional = options.includes('omitempty') && !go.startsWith('*') ? '?' : '';
    return `${number}:${json}${optional}:${typeIn(owner, go)}`;
  });
}

const messages: Record<string, string[]> = {};
const wanted = [...kinds];
for (const name of wanted) {
  messages[name] ??= messageOf(name);
  for (const of of messages[name].map((text) => /(\w+\.\w+)$/.exec(text)?.[1])) {
    if (of && !messages[of] && !wanted.includes(of)) wanted.push(of);
  }
}
const sorted = Object.entries(messages).sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(
  new URL('protobuf-fields.json', import.meta.url),
  `${JSON.stringify(Object.fromEntries(sorted.map(([name, fields]) => [name, fields.join(' ')])), undefined, 2)}\n`,
);
