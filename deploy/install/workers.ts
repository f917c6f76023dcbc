/** Whether a role is one on a group that has rules on others, too, or only one that has none. */
export type Touch = 'among others' | 'alone';

/**
 * Those of the manifests that are there only for who works with kinds of this API group: accounts that may, what they may,
 * what runs as them, and what brings events to that.
 */
export function workersOn<T extends Named>(
  group: string,
  manifests: readonly T[],
  touch: Touch = 'among others',
): ReadonlySet<T> {
  const isOnGroup = ({ apiGroups }: Rule) => apiGroups.includes(group);
  const isTouching = ({ kind, rules = [] }: Loose) =>
    isRole(kind) && rules.some(isOnGroup) && (touch === 'among others' || rules.every(isOnGroup));
  const touching = namesOf(manifests.filter(isTouching));
  const accounts = new Set(
    manifests.filter((one: Loose) => one.roleRef && touching.has(keyOf(one.roleRef))).flatMap(subjectsOf),
  );
  const bindings = manifests.filter((one) => isBinding(one) && subjectsOf(one).every((name) => accounts.has(name)));
  const roles = new Set(bindings.map(({ roleRef }: Loose) => roleRef && keyOf(roleRef)));
  const running = manifests.filter((one) => accounts.has(accountOf(one) ?? ''));
  const names = new Set(running.map(({ metadata }) => metadata?.name));
  const isTheirs = (one: Loose & T) =>
    (one.kind === 'ServiceAccount' && accounts.has(one.metadata?.name ?? '')) ||
    (isRole(one.kind) && roles.has(keyOf({ kind: one.kind, name: one.metadata?.name ?? '' }))) ||
    names.has(one.spec?.subscriber?.ref?.name ?? one.spec?.selector?.['app.kubernetes.io/name']);
  return new Set([...bindings, ...running, ...manifests.filter(isTheirs)]);
}

/** What every manifest has, or may have. */
export interface Named {
  kind: string;
  metadata?: { name: string };
}

interface Rule {
  apiGroups: readonly string[];
}

/** A manifest, as far as it says who works. */
interface Loose extends Named {
  rules?: readonly Rule[];
  roleRef?: { kind: string; name: string };
  subjects?: readonly { name: string }[];
  spec?: {
    serviceAccountName?: string;
    template?: { spec?: { serviceAccountName?: string } };
    subscriber?: { ref?: { name?: string } };
    selector?: Readonly<Record<string, string>>;
  };
}

const isRole = (kind: string) => kind === 'ClusterRole' || kind === 'Role';

const isBinding = ({ roleRef }: Loose) => roleRef !== undefined;

const keyOf = ({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`;

const namesOf = (manifests: readonly Named[]) =>
  new Set(manifests.map(({ kind, metadata }) => keyOf({ kind, name: metadata?.name ?? '' })));

const subjectsOf = ({ subjects = [] }: Loose) => subjects.map(({ name }) => name);

/** A source says its account itself, a workload at its Pods. */
const accountOf = ({ spec }: Loose) => spec?.serviceAccountName ?? spec?.template?.spec?.serviceAccountName;
