import { manifestKey } from '../../manifests.ts';
import { type AnyObject, formatPlace } from '../install/kinds.ts';
import { lackingIn } from './definitions.ts';
import { type Finding, upgrade } from './finding.ts';
import type { Installation } from './installation.ts';

interface Rule {
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  verbs?: string[];
}

/** One verb on one resource. */
interface Right {
  group: string;
  resource: string;
  name: string;
  verb: string;
}

const kinds = ['ServiceAccount', 'Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'];

/** Every account, role and binding of the manifests: they exist, and grant at least what the manifest grants. */
export const permissions = ({ shipped, there }: Installation): Finding[] =>
  shipped
    .filter(({ kind }) => kinds.includes(kind))
    .flatMap((wanted): Finding[] => {
      const found = there.get(manifestKey(wanted));
      const name = formatPlace(wanted);
      const expected = 'it as in this release: a function needs it for its work';
      if (!found) return [{ name, expected, found: 'none', remedy: upgrade }];
      const lacks = lacksOf(wanted, found);
      return lacks ? [{ name, expected, found: lacks, remedy: upgrade }] : [];
    });

/** The admission policies, which limit what functions may write: they exist, and match the manifests. */
export const admissionPolicies = ({ shipped, there }: Installation): Finding[] =>
  shipped
    .filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy'))
    .flatMap((wanted): Finding[] => {
      const found = there.get(manifestKey(wanted));
      const lacks = found ? lackingIn(wanted.spec, found.spec, '') : undefined;
      if (found && !lacks) return [];
      const name = formatPlace(wanted);
      const expected = 'it as in this release: without it, a function may do more than it should';
      return [{ name, expected, found: lacks ? `another ${lacks}` : 'none', remedy: upgrade }];
    });

function lacksOf(wanted: AnyObject, found: AnyObject): string | undefined {
  if (wanted.kind === 'Role' || wanted.kind === 'ClusterRole') {
    const lacking = missingRights(rulesOf(wanted), rulesOf(found));
    return lacking.length > 0
      ? `no right to ${lacking.slice(0, 3).join(', ')}${lacking.length > 3 ? ` and ${lacking.length - 3} more` : ''}`
      : undefined;
  }
  const subjects = (object: AnyObject) =>
    (object as { subjects?: { name: string; namespace?: string }[] }).subjects ?? [];
  const lost = subjects(wanted).filter(
    (one) => !subjects(found).some(({ name, namespace }) => name === one.name && namespace === one.namespace),
  );
  return lost.length > 0 ? `no ${lost.map(({ name }) => name).join(', ')} among its subjects` : undefined;
}

const rulesOf = (object: AnyObject) => (object as { rules?: Rule[] | null }).rules ?? [];

/** The rights that `wanted` grants and `found` does not. */
export function missingRights(wanted: readonly Rule[], found: readonly Rule[]): string[] {
  const lacking = wanted.flatMap(rightsOf).filter((right) => !found.some((rule) => allows(rule, right)));
  return lacking.map(({ group, resource, verb }) => `${verb} ${resource}${group ? `.${group}` : ''}`);
}

const rightsOf = ({ apiGroups = [''], resources = [], resourceNames = [''], verbs = [] }: Rule): Right[] =>
  apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      resourceNames.flatMap((name) => verbs.map((verb) => ({ group, resource, name, verb }))),
    ),
  );

function allows({ apiGroups = [], resources = [], resourceNames = [], verbs = [] }: Rule, right: Right): boolean {
  const has = (list: readonly string[], value: string) => list.includes(value) || list.includes('*');
  const isNamed = resourceNames.length === 0 || resourceNames.includes(right.name);
  return isNamed && has(apiGroups, right.group) && has(resources, right.resource) && has(verbs, right.verb);
}
