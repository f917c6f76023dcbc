import type { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import {
  describeDefault,
  describeFault,
  namespaceKeys,
  type PolicyKey,
  parsePolicy,
  policyKeys,
} from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { readPolicyMap } from '../../shared/runtime/read-policy.ts';
import { UsageError } from '../terminal/arguments.ts';
import { type Body, type Call, exit, type Outcome } from './command.ts';
import { leftOutOf } from './left-out.ts';
import { nearestOf } from './nearest.ts';
import { endOfPause } from './pause.ts';
import { policyLines, policyView } from './policy-view.ts';
import { listEverywhere } from './target.ts';
import { writePolicy } from './write-policy.ts';

/** Shows the policy, and changes it. */
export const policy: Body = {
  words: '[set KEY VALUE | unset KEY]',
  options: {},
  details: [
    'set writes a value only if it parses. unset restores the default, or removes a key that no function reads.',
    'Exit codes: 0 all keys parse · 1 some do not, or no function reads them.',
  ],
  examples: ['policy', 'policy set concurrency 8', 'policy unset pruneAfter'],
  complete: async (before) => {
    if (before.length === 0) return ['set', 'unset'];
    return before.length === 1 ? policyKeys : [];
  },
  run: async (call) => {
    const [verb, ...rest] = call.words;
    if (verb === undefined) return show(call, await readPolicyMap((await call.cluster()).kube));
    if (verb === 'set') return set(call, settingOf(rest));
    if (verb === 'unset') return unset(call, rest);
    throw new UsageError(`expected policy, policy set KEY VALUE or policy unset KEY, found policy ${verb}`);
  },
};

function show({ look }: Call, configMap: ConfigMap | undefined): Outcome {
  const view = policyView(configMap);
  const isFine = view.unknown.length === 0 && view.keys.every(({ fault }) => !fault);
  return { lines: policyLines(view, look), json: view, code: isFine ? exit.done : exit.failed };
}

/** A key and a valid value; throws a UsageError that says what is valid. */
export function settingOf(words: readonly string[]): { key: PolicyKey; value: string } {
  const [name, value, ...more] = words;
  if (name === undefined)
    throw new UsageError('expected policy set KEY VALUE, found no key; ot-functions policy lists them');
  const key = policyKeys.find((known) => known === name);
  if (!key) {
    const meant = nearestOf(name, policyKeys);
    throw new UsageError(
      `expected a key of the policy, found ${JSON.stringify(name)}; ${meant ? `was ${meant} meant?` : `there are ${policyKeys.join(', ')}`}`,
    );
  }
  if (value === undefined || more.length > 0)
    throw new UsageError(`expected one value for ${key}, found ${value === undefined ? 'none' : words.length - 1}`);
  const [fault] = parsePolicy({ data: { [key]: value } }).faults;
  if (fault) throw new UsageError(`${describeFault(fault)}; nothing was changed`);
  return { key, value };
}

async function set({ cluster }: Call, { key, value }: { key: PolicyKey; value: string }): Promise<Outcome> {
  const { kube } = await cluster();
  const configMap = await readPolicyMap(kube);
  const was = configMap?.data?.[key];
  const ending = endOfPause(configMap, key, value);
  if (was !== value) await writePolicy(kube, configMap, { [key]: value }, ending.annotations);
  const said = was === value ? 'as before' : `before: ${was ?? 'not set'}`;
  const missing = await missingNamespaces(kube, key, value);
  const leftOut = await leftOutUnder(kube, key, value);
  return {
    lines: [`${key} is ${value} (${said}).${ending.says}`, ...missing.map(({ says }) => says), ...leftOut.lines],
    json: {
      ...{ key, value, was: was ?? null },
      ...(missing.length > 0 ? { missing: missing.map(({ name }) => name) } : {}),
      ...leftOut.json,
    },
    code: exit.done,
  };
}

/** The images that machines of other namespaces no longer keep under the new value, or under the default. */
async function leftOutUnder(kube: Kube, key: string, value?: string) {
  if (key !== 'imageNamespaces') return { lines: [], json: {} };
  const policy = parsePolicy({ data: value === undefined ? {} : { [key]: value } });
  const found = leftOutOf(policy, await listEverywhere<VirtualMachine>(kube, 'machine'));
  const lines = found.map(
    ({ namespace, users, command }) =>
      `${namespace} is not in ${key}, but ${users}: they no longer keep these from being deleted. If that is not meant: ${command}`,
  );
  return { lines, json: found.length > 0 ? { leftOut: found.map(({ namespace }) => namespace) } : {} };
}

/** The namespaces of the value that do not exist: they may be made later, or be misspelt. */
async function missingNamespaces(kube: Kube, key: PolicyKey, value: string) {
  const isOfNamespaces = namespaceKeys.some((one) => one === key);
  const { [key]: names } = parsePolicy({ data: isOfNamespaces ? { [key]: value } : {} }).values;
  if (!isOfNamespaces || !Array.isArray(names)) return [];
  const known = new Set((await kube.list(Namespace)).map(({ metadata }) => metadata.name));
  return (names as string[])
    .filter((name) => !known.has(name))
    .map((name) => {
      const meant = nearestOf(name, [...known]);
      return { name, says: `There is no namespace ${name}${meant ? `; was ${meant} meant?` : ' yet.'}` };
    });
}

async function unset({ cluster }: Call, [key, ...more]: readonly string[]): Promise<Outcome> {
  if (!key || more.length > 0)
    throw new UsageError(`expected policy unset KEY, found ${more.length + (key ? 1 : 0)} keys`);
  const { kube } = await cluster();
  const configMap = await readPolicyMap(kube);
  const was = configMap?.data?.[key];
  const known = policyKeys.find((name) => name === key);
  const meant = nearestOf(key, [...policyKeys, ...Object.keys(configMap?.data ?? {})]);
  if (was === undefined && !known)
    throw new UsageError(
      `expected a key of the policy, found ${JSON.stringify(key)}${meant ? `; was ${meant} meant?` : ''}`,
    );
  const ending = endOfPause(configMap, key);
  if (was !== undefined) await writePolicy(kube, configMap, { [key]: null }, ending.annotations);
  const said = was === undefined ? 'was not set' : 'is no longer set';
  const holds = known ? `; the default holds: ${describeDefault(known) || 'none'}` : '';
  const leftOut = await leftOutUnder(kube, key);
  return {
    lines: [`${key} ${said}${holds}.${ending.says}`, ...leftOut.lines],
    json: { key, was: was ?? null, ...leftOut.json },
    code: exit.done,
  };
}
