import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { group as openStackGroup } from '../../shared/kinds/kupenstack/condition.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import { ifServed } from '../../shared/runtime/if-served.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { UsageError } from '../terminal/arguments.ts';
import { NotFound, type Reached } from './command.ts';
import { nearestOf } from './nearest.ts';

export type OnOpenStack = KupenStackMachine | VirtualNetwork | Volume;

/** An object that a command is about. */
export type Target = Workspace | VirtualMachine | VMDiskImage | OnOpenStack;

export const isOnOpenStack = (target: Target): target is OnOpenStack => target.apiVersion === openStackGroup;

const resources = {
  workspace: Workspace,
  machine: VirtualMachine,
  image: VMDiskImage,
  'virtualmachine.kupenstack.io': KupenStackMachine,
  virtualnetwork: VirtualNetwork,
  volume: Volume,
} as const;
export type TargetKind = keyof typeof resources;
export const targetKinds = Object.keys(resources) as readonly TargetKind[];
export const onOpenStackKinds = targetKinds.filter((kind) => resources[kind].apiVersion === openStackGroup);

/** Every name of a kind: the short ones of this command, and those that kubectl accepts. */
const words: Readonly<Record<string, TargetKind>> = {
  workspace: 'workspace',
  workspaces: 'workspace',
  otws: 'workspace',
  machine: 'machine',
  machines: 'machine',
  otvm: 'machine',
  virtualmachine: 'machine',
  virtualmachines: 'machine',
  image: 'image',
  images: 'image',
  vmdi: 'image',
  vmdiskimage: 'image',
  vmdiskimages: 'image',
  vn: 'virtualnetwork',
  virtualnetworks: 'virtualnetwork',
  vol: 'volume',
  volumes: 'volume',
  ...Object.fromEntries(targetKinds.flatMap((kind) => fullNames(kind).map((name) => [name, kind]))),
};

/** "volume", "volumes.kupenstack.io": a kind with its group, as kubectl accepts it. */
function fullNames(kind: TargetKind): string[] {
  const { apiVersion, plural, kind: singular } = resources[kind];
  const [group] = apiVersion.split('/');
  return [kind, `${plural}.${group}`, `${singular.toLowerCase()}.${group}`];
}

/** The name of an object on the command line. */
interface Named {
  kind?: TargetKind;
  namespace?: string;
  name: string;
}

/** Reads KIND NAME, KIND/NAME, KIND/NAMESPACE/NAME, NAMESPACE/NAME or NAME. Throws a UsageError for anything else. */
export function readNamed(parts: readonly string[], namespace: string | undefined): Named {
  const segments = parts.flatMap((part) => part.split('/'));
  const [first = '', ...rest] = segments;
  const isSurelyKind = parts.length > 1 || segments.length > 2;
  const kind = segments.length > 1 ? kindIn(first, isSurelyKind ? 'a kind' : 'or a namespace') : undefined;
  const [name, within, ...more] = (kind ? rest : segments).toReversed();
  const isNamed = name && within !== '' && more.length === 0;
  if (!isNamed || parts.length > (kind ? 2 : 1)) throw notNamed(parts);
  if (within && namespace && within !== namespace) {
    const meant = nearestOf(within, Object.keys(words));
    throw new UsageError(
      `expected one namespace, found ${within} and --namespace ${namespace}${meant ? `; was ${meant} meant?` : ''}`,
    );
  }
  const where = within ?? namespace;
  return { name, ...(kind ? { kind } : {}), ...(where ? { namespace: where } : {}) };
}

/**
 * The kind that a word names or is an unambiguous prefix of. If a namespace or a name may appear in its place, a prefix counts only
 * with a dot, because hardly any namespace or name has one.
 */
export function kindIn(word: string, place: 'a kind' | 'or a namespace' | 'or a name'): TargetKind | undefined {
  const lower = word.toLowerCase();
  const known = words[lower];
  if (known) return known;
  if (ofKubeVirt.includes(lower)) {
    const otherwise =
      place === 'or a name' ? `an object of that name type machine/${word}` : `a namespace of that name use -n ${word}`;
    throw new UsageError(
      `expected machine, or virtualmachine.kupenstack.io on OpenStack, found ${word}, which is a kind of KubeVirt; for ${otherwise}`,
    );
  }
  if (lower === '' || (place !== 'a kind' && !lower.includes('.'))) return undefined;
  const begun = new Set(Object.keys(words).flatMap((name) => (name.startsWith(lower) ? words[name] : [])));
  const [kind, ...others] = begun;
  if (others.length > 0)
    throw new UsageError(`expected one kind, found ${word}, a prefix of ${[...begun].join(' and ')}`);
  return kind;
}

/** Short for a KubeVirt machine, or for a KupenStack machine without KubeVirt: a user who types it may mean any. */
const ofKubeVirt = ['vm', 'vms'];

const notNamed = (parts: readonly string[]) =>
  new UsageError(
    `expected NAME or KIND/NAME, where KIND is ${targetKinds.join(', ')}; found ${parts.join(' ') || 'nothing'}`,
  );

/** Where to look for what is named without a namespace. */
export type Place = Pick<Reached, 'kube' | 'namespace'>;

/** The named object. Throws if it does not exist or the name is ambiguous, with the names that exist. */
export async function findTarget(place: Place, named: Named): Promise<Target> {
  const kinds = named.kind ? [named.kind] : targetKinds;
  const found = (await Promise.all(kinds.map((kind) => orNone(kind, named, namedIn(place, kind, named))))).flat();
  const [target, ...others] = found;
  if (target && others.length === 0) return target;
  if (target) {
    throw new UsageError(
      `expected one object with the name ${named.name}, found ${found.map(formatTyped).join(', ')}; name one of these`,
    );
  }
  throw await missing(place, kinds, named);
}

/** The named image, with or without its namespace. */
export const findImage = (place: Place, parts: readonly string[], namespace: string | undefined) =>
  findOf(place, readNamed(parts, namespace), 'image') as Promise<VMDiskImage>;

export const findWorkspace = (place: Place, parts: readonly string[]) =>
  findOf(place, readNamed(parts, undefined), 'workspace') as Promise<Workspace>;

async function findOf(place: Place, named: Named, kind: TargetKind) {
  if (named.kind && named.kind !== kind)
    throw new UsageError(`expected ${kind}/NAME, found ${named.kind}/${named.name}`);
  return findTarget(place, { ...named, kind });
}

/** Without a kind on the command line, a user needs no access to the OpenStack kinds, which most clusters do not have. */
async function orNone<T extends Target>(kind: TargetKind, named: { kind?: TargetKind }, found: Promise<T[]>) {
  try {
    return await found;
  } catch (error) {
    if (named.kind === undefined && onOpenStackKinds.includes(kind) && hasStatus(error, 403)) return [];
    throw error;
  }
}

async function namedIn({ kube, namespace: home }: Place, kind: TargetKind, named: Named): Promise<Target[]> {
  const resource = resources[kind];
  const { name, namespace = home } = named;
  if (namespace || !resource.namespaced) {
    // A workspace has no namespace: a name with one means another object.
    if (named.namespace && !resource.namespaced) return [];
    const ref = { ...(namespace && resource.namespaced ? { namespace } : {}), name };
    const found = await ifServed(kube.get<Target>(resource, ref));
    return found ? [found] : [];
  }
  return listEverywhere<Target>(kube, kind, { fieldSelector: `metadata.name=${name}` });
}

/** All objects of a kind; a kind that is not served has none. */
export async function listEverywhere<T extends Target>(
  kube: Kube,
  kind: TargetKind,
  options: { namespace?: string; fieldSelector?: string } = {},
): Promise<T[]> {
  const resource = resources[kind];
  const { namespace, ...selector } = options;
  const where = namespace && resource.namespaced ? { ...selector, namespace } : selector;
  return ((await ifServed(kube.list<Target>(resource, where))) ?? []) as T[];
}

/** The same, but of the OpenStack kinds only what this account may read. */
export const listIfAny = <T extends Target>(kube: Kube, kind: TargetKind, options: { namespace?: string } = {}) =>
  orNone(kind, {}, listEverywhere<T>(kube, kind, options));

async function missing(
  { kube, namespace: home }: Place,
  kinds: readonly TargetKind[],
  { name, namespace = home }: Named,
): Promise<NotFound> {
  const isOfNamespace = namespace !== undefined && kinds.some((kind) => resources[kind].namespaced);
  if (isOfNamespace) await expectNamespace(kube, namespace, Object.keys(words));
  const isOfOneKind = kinds.length === 1;
  if (!isOfOneKind && Object.hasOwn(words, name.toLowerCase()))
    return new NotFound(`expected ${name}/NAME, or an object of the name ${name}, found no such object`);
  const all = (await Promise.all(kinds.map((kind) => listIfAny(kube, kind, namespace ? { namespace } : {})))).flat();
  const names = [...new Set(all.map(({ metadata }) => metadata.name))].sort();
  const meant = nearestOf(name, isOfOneKind ? names : [...names, ...Object.keys(words)]);
  const what = isOfOneKind ? `${kinds[0]} ${name}` : `a ${kinds.join(', ')} of the name ${name}`;
  const there = names.length > 0 ? `there are ${firstOf(names)}` : 'there are none';
  const ofName = { fieldSelector: `metadata.name=${name}` };
  const namesakes = await readable(kube, isOfOneKind ? kinds.flatMap(namesakesOf) : [], {
    ...(namespace ? { namespace } : {}),
    ...ofName,
  });
  const elsewhere = isOfNamespace ? await readable(kube, kinds, ofName) : [];
  const where = isOfNamespace ? ` in namespace ${namespace}` : '';
  const [only, ...others] = [...namesakes, ...elsewhere].map(formatTyped);
  if (only && others.length === 0) return new NotFound(`expected ${what}${where}, found ${only}`, only);
  if (only) return new NotFound(`expected ${what}${where}, found ${firstOf([only, ...others])}; name one of these`);
  const similar = meant ?? (isOfNamespace ? await nearestElsewhere(kube, kinds, name) : undefined);
  return new NotFound(`expected ${what}${where}, found none; ${similar ? `was ${similar} meant?` : there}`);
}

/** The kinds of other groups with the same name: a machine may run under KubeVirt or on OpenStack. */
const namesakesOf = (kind: TargetKind) =>
  targetKinds.filter((other) => other !== kind && resources[other].kind === resources[kind].kind);

/** What has the most similar name in any namespace, as a user would type it. */
async function nearestElsewhere(kube: Kube, kinds: readonly TargetKind[], name: string): Promise<string | undefined> {
  const all = Map.groupBy(await readable(kube, kinds), ({ metadata }) => metadata.name);
  const found = all.get(nearestOf(name, [...all.keys()]) ?? '');
  return found && firstOf(found.map(formatTyped));
}

/** The objects of these kinds, in all namespaces if none is named; none of a kind that the user may not read there. */
async function readable(
  kube: Kube,
  kinds: readonly TargetKind[],
  options: { namespace?: string; fieldSelector?: string } = {},
) {
  const found = await Promise.allSettled(kinds.map((kind) => listEverywhere<Target>(kube, kind, options)));
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}

export const namespacesIn = async (kube: Kube): Promise<string[]> =>
  (await kube.list(Namespace)).map(({ metadata }) => metadata.name);

/** Throws if there is no such namespace; a user who may not read namespaces is not told. One of these words may have been meant. */
export async function expectNamespace(kube: Kube, name: string, others: readonly string[] = []): Promise<void> {
  try {
    if (await kube.get(Namespace, { name })) return;
    const meant = nearestOf(name, [...(await namespacesIn(kube)), ...others]);
    throw new NotFound(
      `expected an existing namespace, found ${name}, which does not exist${meant ? `; was ${meant} meant?` : ''}`,
    );
  } catch (error) {
    if (!hasStatus(error, 403)) throw error;
  }
}

const firstOf = (names: readonly string[]) =>
  names.length > 10 ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more` : names.join(', ');

export const resourceOfKind = (kind: TargetKind) => resources[kind];

/** The kind of an object. */
export const kindOf = ({ apiVersion, kind }: Target): TargetKind =>
  targetKinds.find((name) => resources[name].kind === kind && resources[name].apiVersion === apiVersion) ?? 'image';

/** "VirtualMachine", or with its group if that is not pelotech.ot. */
export const formatKind = (target: { apiVersion: string; kind: string }) =>
  target.apiVersion === openStackGroup ? `${target.kind}.${openStackGroup.split('/')[0]}` : target.kind;

/** "vmdiskimage.pelotech.ot/ubuntu": as `kubectl -o name` prints it and takes it. */
export function kubectlName(kind: string, name: string): string {
  const [group] = VMDiskImage.apiVersion.split('/');
  return `${kind.includes('.') ? kind : `${kind}.${group}`}/${name}`.toLowerCase();
}

/** "VMDiskImage vmdi-farm/ubuntu" */
export const formatName = (target: { apiVersion: string; kind: string; metadata: ObjectReference }) =>
  `${formatKind(target)} ${keyOf(target.metadata)}`;

/** The same as a user would type it: "image/vmdi-farm/ubuntu". */
export const formatTyped = (target: Target) =>
  [kindOf(target), target.metadata.namespace, target.metadata.name].filter(Boolean).join('/');
