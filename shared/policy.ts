import { type Pattern, patternOf } from './glob.ts';
import type { ConfigMap } from './kinds/core/config-map.ts';
import { diskQuantity } from './kinds/pelotech/vm-disk-image.ts';
import { formatDuration, parseDurationMs } from './kubernetes/duration.ts';
import { bytesOf } from './kubernetes/quantity.ts';
import { operatorNamespace } from './operator.ts';

export const policyName = 'sync-operator-policy';

/** Where the policy is: read at each decision, so that an edit counts at once. */
export const policyRef = { namespace: operatorNamespace, name: policyName };

interface Key<T> {
  default: T;
  expected: string;
  /** The value, or undefined where the text says none. */
  parse(text: string): T | undefined;
}

const key = <T>(fallback: T, expected: string, parse: (text: string) => T | undefined): Key<T> => ({
  default: fallback,
  expected,
  parse,
});

const wholeNumber = (fallback: number, most: number) =>
  key(fallback, `a whole number from 0 to ${most}`, (text) =>
    /^\d{1,7}$/.test(text) && Number(text) <= most ? Number(text) : undefined,
  );
const duration = (fallback: string) =>
  key(parseDurationMs(fallback) ?? 0, 'a duration such as "90s", "5m" or "1h30m"', parseDurationMs);
const oneOf = <T extends string>(fallback: T, values: readonly T[]) =>
  key<T>(fallback, values.join(', '), (text) => values.find((value) => value === text));
const words = (fallback: readonly string[], expected: string, pattern: RegExp) =>
  key<readonly string[]>(fallback, expected, (text) => {
    const found = text.split(/[\s,]+/).filter(Boolean);
    return found.length > 0 && found.every((word) => pattern.test(word)) ? found : undefined;
  });
/** A label of DNS (RFC 1123). */
const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const objectName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** A place that images may be downloaded from, and the Secret of an image namespace that may be sent there. */
export interface AllowedSource {
  pattern: Pattern;
  secret?: string | undefined;
}

/** None unless they are named; a part that does not parse spoils the key. */
const listOf = <T>(expected: string, separator: RegExp, read: (part: string) => T | undefined) =>
  key<readonly T[]>([], expected, (text) => {
    const parts = text.split(separator).filter((part) => part.trim() !== '');
    const found = parts.map(read).filter((part) => part !== undefined);
    return found.length > 0 && found.length === parts.length ? found : undefined;
  });

/** A URL pattern, and perhaps the name of a Secret. */
function sourceIn(line: string): AllowedSource | undefined {
  const [url = '', secret, ...more] = line.trim().split(/\s+/);
  const pattern = patternOf(url);
  return pattern && more.length === 0 && (secret === undefined || objectName.test(secret))
    ? { pattern, secret }
    : undefined;
}

const optional = (expected: string, pattern: RegExp) =>
  key<string | undefined>(undefined, expected, (text) => (pattern.test(text) ? text : undefined));
const named = (fallback: string, expected: string, pattern: RegExp) =>
  key(fallback, expected, (text) => (pattern.test(text) ? text : undefined));
const yesOrNo = (fallback: boolean) =>
  key<boolean>(fallback, 'true or false', (text) => ({ true: true, false: false })[text]);

/** How much may be downloaded within `days` days (UTC), including today. */
export interface EgressBudget {
  bytes: number;
  days: number;
}

function budgetIn(text: string): EgressBudget | undefined {
  const [, size = '', days = ''] = /^(.+)\/([1-9]|[12]\d|3[01])d$/.exec(text) ?? [];
  const bytes = bytesOf(size);
  return bytes === undefined || bytes === 0 ? undefined : { bytes, days: Number(days) };
}

const hostPort = (line: string) => {
  const [, port = ''] = /^([1-9]\d{0,4})\/(tcp|udp|sctp)$/.exec(line) ?? [];
  return port && Number(port) <= 65_535 ? line : undefined;
};

/** The keys whose values name namespaces. */
export const namespaceKeys = ['imageNamespaces', 'machineNetworks'] as const satisfies readonly (keyof typeof keys)[];

/** The keys of the policy with their defaults; a key that is not there has its default. */
const keys = {
  concurrency: wholeNumber(4, 1000),
  slotsPerNamespace: key<number | undefined>(undefined, 'a whole number from 1 to 1000', (text) =>
    /^([1-9]\d{0,2}|1000)$/.test(text) ? Number(text) : undefined,
  ),
  retryLimit: wholeNumber(2, 100),
  retryBackoffDuration: duration('5m'),
  maxRetryBackoffDuration: duration('1h'),
  startTimeout: duration('15m'),
  syncTimeout: duration('4h'),
  snapshotTimeout: duration('2h'),
  inspectTimeout: duration('30s'),
  keepRevisions: key(2, 'a whole number from 1 to 20', (text) =>
    /^([1-9]|1\d|20)$/.test(text) ? Number(text) : undefined,
  ),
  egressBudget: key<EgressBudget | undefined>(undefined, 'a size and 1 to 31 days such as "500Gi/30d"', budgetIn),
  egressPricePerGiB: key<number | undefined>(undefined, 'a price such as 0.09', (text) =>
    /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined,
  ),
  prune: oneOf('Never', ['Never', 'DryRun', 'WhenUnreferenced']),
  pruneAfter: duration('168h'),
  workspaceImagesKeptFor: duration('24h'),
  retainSourceVolume: yesOrNo(false),
  dataSources: yesOrNo(false),
  allowedSources: listOf(
    'a URL with * and ** in its path and perhaps the name of a Secret, one a line, such as "https://s3.example.com/images/** s3-reader"',
    /\n/,
    sourceIn,
  ),
  imageNamespaces: words(['vmdi-farm'], 'names of namespaces, one a line', namespaceName),
  machineNetworks: words([], 'names of namespaces, one a line', namespaceName),
  machineInstancetypes: listOf(
    'names of VirtualMachineClusterInstancetypes, one a line, with * for any characters, such as u1.*',
    /\s+/,
    (name) => (/^[a-z0-9*][-a-z0-9.*]{0,252}$/.test(name) ? name : undefined),
  ),
  imageUrlTemplate: optional('a URL with {name} and {version}', /^[a-z][a-z0-9+.-]*:\/\/\S+$/),
  imageStorageClass: optional('the name of a StorageClass', objectName),
  imageSnapshotClass: optional('the name of a VolumeSnapshotClass', objectName),
  imageSecretRef: optional('the name of a Secret', objectName),
  imageDiskSize: optional('a size such as 24Gi', new RegExp(diskQuantity)),
  unsignedPublications: oneOf('Refuse', ['Refuse', 'Accept']),
  ignoreOnDeploy: oneOf('Halt', ['Halt', 'Skip', 'Start']),
  networkProvider: oneOf('kube-ovn', ['kube-ovn', 'bridge']),
  hostPorts: listOf('ports of nodes with their protocol, one a line, such as 53/udp', /\s+/, hostPort),
  workspaceCapabilities: words(['NET_BIND_SERVICE'], 'capabilities of Linux, one a line, or *', /./),
  machineFailedAfter: duration('5m'),
  machineUnschedulableAfter: duration('15m'),
  openstackEndpoints: listOf(
    'patterns such as https://keystone.example.com:5000/**, one a line, with scheme and host as they are',
    /\s+/,
    patternOf,
  ),
  serverRecoverAfter: duration('5m'),
  unreachableHostRecoverAfter: key<number | undefined>(undefined, 'a duration such as "10m"', parseDurationMs),
  ansible: oneOf('Run', ['Run', 'External']),
  ansibleRunnerImage: optional(
    'an image of ansible-runner such as registry.example/ansible-runner:1.0',
    /^[a-z0-9][\w.:@/-]{0,500}$/i,
  ),
  ansibleRolesConfigMap: optional('the name of a ConfigMap', objectName),
  ansibleControlNetwork: named('control-net', 'the name of a network of workspaces', objectName),
  ansibleUser: optional('a login such as ops', /^[^\s:]{1,64}$/),
  ansibleCredentials: yesOrNo(false),
  ansibleTimeout: duration('1h'),
} as const;

type Keys = typeof keys;
export type PolicyKey = keyof Keys;
type Value<K extends PolicyKey> = Keys[K] extends Key<infer T> ? T : never;

export const policyKeys = Object.keys(keys) as readonly PolicyKey[];

/** What holds where the key is not there, as one would write it; empty for none. */
export function describeDefault(name: PolicyKey): string {
  const { default: value, parse } = keys[name];
  if (value === undefined) return '';
  if (parse === parseDurationMs) return formatDuration(value as number);
  return Array.isArray(value) ? value.join(' ') : String(value);
}

/** A key of the policy that does not parse: what was expected and what was found. */
export interface PolicyFault {
  key: PolicyKey;
  expected: string;
  found: string;
}

/** The policy. An invalid key is among the faults: nothing that depends on it starts. */
export interface Policy {
  values: { [K in PolicyKey]: Value<K> };
  faults: readonly PolicyFault[];
}

/** What was read never changes, and is asked for by each reconcile. */
const parsed = new WeakMap<object, Policy>();

/** Reads the policy; a ConfigMap that is not there means the defaults. */
export function parsePolicy(configMap: Pick<ConfigMap, 'data'> | undefined): Policy {
  const policy = (configMap && parsed.get(configMap)) ?? parse(configMap);
  if (configMap) parsed.set(configMap, policy);
  return policy;
}

function parse(configMap: Pick<ConfigMap, 'data'> | undefined): Policy {
  const faults: PolicyFault[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { default: fallback, expected, parse }] of Object.entries(keys) as [PolicyKey, Key<unknown>][]) {
    const text = configMap?.data?.[name]?.trim();
    const value = text === undefined ? fallback : parse(text);
    values[name] = value ?? fallback;
    if (text !== undefined && value === undefined) faults.push({ key: name, expected, found: text.slice(0, 100) });
  }
  return { values: values as Policy['values'], faults };
}

/** True where all of these keys parsed. */
export const isValid = (policy: Policy, ...names: readonly PolicyKey[]) =>
  !policy.faults.some((fault) => names.includes(fault.key));

/** "concurrency: expected a whole number from 0 to 1000, found "many"" */
export const describeFault = ({ key: name, expected, found }: PolicyFault) =>
  `${name}: expected ${expected}, found ${JSON.stringify(found)}`;
