import { manifestKey } from '../../manifests.ts';
import { type AnyObject, formatPlace } from '../install/kinds.ts';
import { type Finding, untrue, upgrade } from './finding.ts';
import type { Installation } from './installation.ts';

/** The versions of the cluster's components, as `ot-functions check` judges them. */
export const platform = ({ requirements }: Installation): Finding[] =>
  requirements
    .filter(({ result }) => result === 'missing')
    .map(({ name, expected, found, remedy = '' }) => ({ name, expected, found, remedy }));

/** Installed objects that are being deleted: they still exist, but disappear when their finalizers are removed. */
export const beingDeleted = ({ shipped, there }: Installation): Finding[] =>
  shipped
    .flatMap((wanted) => there.get(manifestKey(wanted)) ?? [])
    .filter(({ metadata }) => metadata.deletionTimestamp)
    .map((found) => ({
      name: formatPlace(found),
      expected: 'it to stay',
      found: `being deleted since ${found.metadata.deletionTimestamp}`,
      remedy: `kubectl wait --for=delete ${found.kind}/${found.metadata.name}${found.metadata.namespace ? ` -n ${found.metadata.namespace}` : ''}, then ${upgrade}`,
    }));

/** The CRDs: they exist, are established, and match this release. */
export const definitions = ({ shipped, there }: Installation): Finding[] =>
  shipped
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .flatMap((wanted): Finding[] => {
      const { name } = wanted.metadata;
      const found = there.get(manifestKey(wanted));
      if (!found) return [{ name: `CRD ${name}`, expected: 'that it exists', found: 'none', remedy: upgrade }];
      const why = untrue(found, 'Established');
      if (why) return [{ name: `CRD ${name}`, expected: 'it to be served', found: why, remedy: upgrade }];
      const lacking = lackingIn(asKept(versionsOf(wanted)), versionsOf(found), '');
      const says = `an older one, without ${lacking}`;
      return lacking ? [{ name: `CRD ${name}`, expected: 'it as of this release', found: says, remedy: upgrade }] : [];
    });

const versionsOf = ({ spec }: AnyObject) =>
  Object.fromEntries(((spec as { versions?: { name: string }[] }).versions ?? []).map((one) => [one.name, one]));

/** A schema as the API server stores it. */
function asKept(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(asKept);
  const kept = Object.entries(value).filter(([key, one]) => !droppedIfEmpty.has(key) || Object.keys(one).length > 0);
  return Object.fromEntries(kept.map(([key, one]) => [key, asKept(one)]));
}

/** Keywords that the API server drops if they are empty; it keeps others, such as the subresource `status: {}`. */
const droppedIfEmpty = new Set(['properties', 'required', 'enum', 'x-kubernetes-validations']);

/** The path of the first value that `wanted` has and `found` lacks or has differently; additional values in `found` are ignored. */
export function lackingIn(wanted: unknown, found: unknown, path: string): string | undefined {
  if (typeof wanted !== 'object' || wanted === null) return wanted === found ? undefined : path;
  for (const [key, value] of Object.entries(wanted)) {
    const below = path ? `${path}.${key}` : key;
    const other = (found as Record<string, unknown> | undefined)?.[key];
    const lacking = other === undefined ? below : lackingIn(value, other, below);
    if (lacking) return lacking.replace(/\.schema\.openAPIV3Schema/, '').replaceAll('.properties.', '.');
  }
  return undefined;
}
