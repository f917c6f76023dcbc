import { type AnyObject, formatPlace, keyOf } from '../../install/kinds.ts';
import { type Finding, untrue, upgrade } from './finding.ts';
import type { Installation } from './installation.ts';

/** The versions that the cluster's parts need, as `npm run cluster -- check` judges them. */
export const platform = ({ requirements }: Installation): Finding[] =>
  requirements
    .filter(({ result }) => result === 'missing')
    .map(({ name, expected, found, remedy = '' }) => ({ name, expected, found, cure: remedy }));

/** What is shipped and somebody deletes: it is there, and whatever holds it, it goes. */
export const leaving = ({ shipped, there }: Installation): Finding[] =>
  shipped
    .flatMap((wanted) => there.get(keyOf(wanted)) ?? [])
    .filter(({ metadata }) => metadata.deletionTimestamp)
    .map((found) => ({
      name: formatPlace(found),
      expected: 'it to stay',
      found: `being deleted since ${found.metadata.deletionTimestamp}`,
      cure: `kubectl wait --for=delete ${found.kind}/${found.metadata.name}${found.metadata.namespace ? ` -n ${found.metadata.namespace}` : ''}, then ${upgrade}`,
    }));

/** Our CRDs: there, taken by the API server, and of this release. */
export const definitions = ({ shipped, there }: Installation): Finding[] =>
  shipped
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .flatMap((wanted): Finding[] => {
      const { name } = wanted.metadata;
      const found = there.get(keyOf(wanted));
      if (!found) return [{ name: `CRD ${name}`, expected: 'it', found: 'none', cure: upgrade }];
      const why = untrue(found, 'Established');
      if (why) return [{ name: `CRD ${name}`, expected: 'it to be served', found: why, cure: upgrade }];
      const lacking = lackingIn(asKept(versionsOf(wanted)), versionsOf(found), '');
      const says = `an older one, without ${lacking}`;
      return lacking ? [{ name: `CRD ${name}`, expected: 'it as of this release', found: says, cure: upgrade }] : [];
    });

const versionsOf = ({ spec }: AnyObject) =>
  Object.fromEntries(((spec as { versions?: { name: string }[] }).versions ?? []).map((one) => [one.name, one]));

/** What the API server keeps of a schema. */
function asKept(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(asKept);
  const kept = Object.entries(value).filter(([key, one]) => !droppedIfEmpty.has(key) || Object.keys(one).length > 0);
  return Object.fromEntries(kept.map(([key, one]) => [key, asKept(one)]));
}

/** Of nothing, these are as good as not there; all else, such as the subresource `status: {}`, is not. */
const droppedIfEmpty = new Set(['properties', 'required', 'enum', 'x-kubernetes-validations']);

/** Where the first has something that the other has not, or has differently; what the other has beside it is no matter. */
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
