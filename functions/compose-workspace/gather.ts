import { chunk } from '../../shared/chunk.ts';
import { uniqueByName } from '../../shared/distinct.ts';
import { type Batch, type Context, type Subject, subjectOf, type Unreadable } from '../../shared/function.ts';
import { egressIn } from '../../shared/images/egress.ts';
import { imagesOfFacts } from '../../shared/images/facts.ts';
import { forecastIn } from '../../shared/images/queue-forecast.ts';
import { leaseRef } from '../../shared/images/slots.ts';
import { stopOf } from '../../shared/images/stopped.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { Job } from '../../shared/kinds/batch/job.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { Service } from '../../shared/kinds/core/service.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { NetworkPolicy } from '../../shared/kinds/networking/network-policy.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { managedBy, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace, workspaceUidLabel } from '../../shared/kinds/pelotech/workspace.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { owns } from '../../shared/kubernetes/ownership.ts';
import { labelSelector } from '../../shared/kubernetes/selectors.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import type { Policy } from '../../shared/policy.ts';
import { mapConcurrently } from '../../shared/runtime/concurrency.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import { getNamed } from '../../shared/runtime/get-named.ts';
import { ifServed } from '../../shared/runtime/if-served.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { orUnreadable } from '../../shared/runtime/unreadable.ts';
import { workspacesNaming } from '../../shared/runtime/workspaces-naming.ts';
import { heldNamespace, imageNamesOf } from '../../shared/workspaces/images.ts';
import { lifetimeOf } from '../../shared/workspaces/lifetime.ts';
import { siteKeyRef } from '../../shared/workspaces/site-key.ts';
import { namespaceOf, subnetName, workspaceIn, workspaceOfSubnet } from '../../shared/workspaces/workspace.ts';
import { usedNamespace } from './images/plan.ts';
import { roleBindingName } from './namespace/plan.ts';
import type { Inside, Observed, Outside, Site } from './observed.ts';
import { credentialsName } from './roles/credentials.ts';
import { hostKeysName } from './roles/host-keys.ts';
import { skipReason } from './roles/roles.ts';
import type { Booking, Queue } from './schedule/queue.ts';
import { isToStart } from './schedule/schedule.ts';
import { settledPhases } from './status.ts';

/** Up to this many workspaces are read concurrently. */
const atOnce = 10;

export async function gather(context: Context, batch: Batch): Promise<(Observed | Unreadable)[]> {
  const { kube, nowMs } = context;
  const workspaces = await workspacesFor(context, batch);
  if (workspaces.length === 0) return [];
  const policy = await readPolicy(kube);
  const queue = workspaces.some((workspace) => isToStart(workspace, nowMs))
    ? await readQueue(kube, policy, nowMs)
    : undefined;
  return mapConcurrently(workspaces, atOnce, (workspace) =>
    orUnreadable(workspace.metadata, observeOne(context, workspace, policy, queue)),
  );
}

/** What the workspaces that are to start later share, read once for all of them. */
async function readQueue(kube: Reader, policy: Policy, nowMs: number): Promise<Queue> {
  const [lease, booked] = await Promise.all([kube.get(Lease, leaseRef), bookings(kube)]);
  return { forecast: forecastIn(lease), stopped: stopOf(policy, egressIn(lease), nowMs)?.why, booked };
}

/** Of those that have images to request. */
async function bookings(kube: Reader): Promise<Booking[]> {
  const booked: Booking[] = [];
  for await (const { items } of kube.pages(Workspace, { fieldSelector: 'status.phase=Scheduled' }))
    booked.push(...items.map(bookingOf).filter(({ images }) => images.length > 0));
  return booked;
}

const bookingOf = (workspace: Workspace): Booking => ({
  name: workspace.metadata.name,
  startsAtMs: lifetimeOf(workspace).startsAtMs,
  images: (workspace.status?.components ?? [])
    .filter(({ kind, reason }) => kind === VMDiskImage.kind && reason === 'Scheduled')
    .map(({ name }) => name),
});

type Reader = Context['kube'];

/** Up to this many workspaces that are to start later share a reconcile of the audit, and what it reads of all bookings. */
const mostToStart = 50;

/** All, a few at once: only what is in a workspace's Namespace shows whether it needs something. */
export async function* audit({ kube, nowMs }: Pick<Context, 'kube' | 'nowMs'>): AsyncGenerator<Subject[]> {
  const toStart: Subject[] = [];
  for await (const { items } of kube.pages(Workspace)) {
    const groups = Map.groupBy(items, (workspace) => isToStart(workspace, nowMs));
    for (const row of chunk(groups.get(false) ?? [], atOnce)) yield row.map(subjectOf);
    toStart.push(...(groups.get(true) ?? []).map(subjectOf));
  }
  yield* chunk(toStart, mostToStart);
}

/** The workspaces that events name, directly or by an object of theirs, or an audit found; at a sweep those under way. */
async function workspacesFor({ kube, nowMs }: Context, batch: Batch): Promise<Workspace[]> {
  const subjects = [...batch.subjects, ...(batch.audited ?? [])];
  const names = new Set(subjects.map(workspaceOf).filter((name) => name !== undefined));
  const [named, waiting, open] = await Promise.all([
    getNamed(
      kube,
      Workspace,
      [...names].map((name) => ({ name })),
    ),
    withImages(kube, batch),
    batch.sweep ? underWay(kube, nowMs) : [],
  ]);
  return uniqueByName([...named, ...waiting, ...open]);
}

/** Up to this many workspaces are read in one sweep; the others in the next ones. */
const mostInSweep = 100;
const sweepMs = 30_000;

/** The workspaces under way; nothing is read of the others. */
async function underWay(kube: Reader, nowMs: number): Promise<Workspace[]> {
  const found: Workspace[] = [];
  for await (const { items } of kube.pages(Workspace))
    found.push(...items.filter((workspace) => isUnderWay(workspace, nowMs)));
  const rows = chunk(found, mostInSweep);
  return rows[Math.floor(nowMs / sweepMs) % rows.length] ?? [];
}

/** Or something has come due that the workspace waited for, or the images that it has requested before its start are on their way. */
const isUnderWay = ({ metadata, status }: Workspace, nowMs: number) =>
  !['Ready', ...settledPhases].includes(status?.phase ?? '') ||
  (status?.phase === 'Scheduled' && hasImagesUnderWay(status)) ||
  metadata.deletionTimestamp !== undefined ||
  status?.observedGeneration !== metadata.generation ||
  Date.parse(status.nextAt ?? '') <= nowMs;

function hasImagesUnderWay({ conditions }: NonNullable<Workspace['status']>) {
  const images = conditionOf(conditions, 'VMDiskImagesReady');
  return images?.status !== 'True' && images?.reason !== 'Scheduled';
}

function workspaceOf({ kind, namespace, name }: Subject): string | undefined {
  if (kind === Workspace.kind) return name;
  if (kind === Namespace.kind || kind === Vpc.kind) return workspaceIn(name);
  return kind === Subnet.kind ? workspaceOfSubnet(name) : workspaceIn(namespace);
}

/** Those that want one of the images that events name; a workspace that is Ready or hibernates has its images. */
function withImages(kube: Reader, batch: Batch): Promise<Workspace[]> {
  const images = imagesOfFacts(batch).map(({ name }) => name);
  return workspacesNaming(kube, images, { fieldSelector: 'status.phase!=Ready,status.phase!=Hibernated' });
}

/** What exists of one workspace: the number of requests does not depend on the number of workspaces. */
export async function observeOne(
  { kube, nowMs, refusals }: Context,
  workspace: Workspace,
  policy: Policy,
  queue?: Queue,
): Promise<Observed> {
  const name = namespaceOf(workspace.metadata.name);
  const [namespace, roleBinding] = await Promise.all([
    kube.get(Namespace, { name }),
    kube.get(RoleBinding, { namespace: name, name: roleBindingName }),
  ]);
  const mayRead = [namespace, roleBinding].every((object) => object && owns(workspace, object));
  const [within, outside, site] = await Promise.all([
    mayRead ? unlessForbidden(withinOf(kube, workspace, policy)) : undefined,
    outsideOf(kube, workspace),
    mayRead ? siteOf(kube, workspace, policy) : undefined,
  ]);
  const isForbidden = mayRead && within === undefined;
  const [inside, keys] = within ?? [];
  const common = { nowMs, policy, refusals, workspace, namespace, roleBinding, queue };
  const found = { ...common, inside, isForbidden, outside, site: withKeys(site, keys) };
  if (workspace.metadata.deletionTimestamp) return { ...found, images: new Map(), imageNamespaces: new Map() };
  return { ...found, ...(await imagesOf(kube, found)) };
}

/** Undefined if the API server forbids it, as it does for a moment with every new RoleBinding. */
async function unlessForbidden<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (hasStatus(error, 403)) return undefined;
    throw error;
  }
}

async function insideOf(kube: Reader, namespace: string): Promise<Inside> {
  const ours = { namespace, labelSelector: labelSelector(managedBy) };
  const [networkPolicies, definitions, claims, machines, deployments, services, jobs, configMaps, pods] =
    await Promise.all([
      kube.list(NetworkPolicy, { namespace }),
      ifServed(kube.list(NetworkAttachmentDefinition, { namespace })),
      kube.list(PersistentVolumeClaim, { namespace }),
      kube.list(VirtualMachine, { namespace }),
      kube.list(Deployment, { namespace }),
      kube.list(Service, { namespace }),
      kube.list(Job, { namespace }),
      kube.list(ConfigMap, ours),
      kube.list(Pod, { namespace }),
    ]);
  return {
    networkPolicies,
    hasMultus: definitions !== undefined,
    definitions: definitions ?? [],
    claims,
    machines,
    deployments,
    services,
    jobs,
    configMaps,
    pods,
  };
}

type OfSite = Pick<Site, 'roles' | 'key'>;

/** Read only for a workspace whose roles are run, and only what the policy names. */
async function siteOf(kube: Reader, { spec }: Workspace, policy: Policy): Promise<OfSite | undefined> {
  const { ansibleRolesConfigMap: roles, ansibleCredentials: asked } = policy.values;
  if (skipReason(spec, policy) !== undefined) return undefined;
  const [map, key] = await Promise.all([
    roles ? kube.get(ConfigMap, { namespace: operatorNamespace, name: roles }) : undefined,
    asked ? kube.get(Secret, siteKeyRef) : undefined,
  ]);
  return { roles: map?.data ?? {}, key };
}

async function withinOf(kube: Reader, workspace: Workspace, policy: Policy) {
  const inside = await insideOf(kube, namespaceOf(workspace.metadata.name));
  return [inside, await keysOf(kube, workspace, policy, inside)] as const;
}

/** Read if Jobs begin with it, or if something of roles is left, with which it is deleted. */
async function keysOf(
  kube: Reader,
  { metadata, spec, status }: Workspace,
  policy: Policy,
  { jobs, configMaps }: Inside,
): Promise<Omit<Site, keyof OfSite> | undefined> {
  const isWanted = policy.values.ansibleCredentials && skipReason(spec, policy) === undefined;
  const isLeft =
    jobs.length + configMaps.length > 0 || status?.components?.some(({ kind }) => kind === 'AnsibleRoles') === true;
  if (!isWanted && !isLeft) return undefined;
  const namespace = namespaceOf(metadata.name);
  const [credentials, hostKeys] = await Promise.all(
    [credentialsName, hostKeysName].map((name) => kube.get(Secret, { namespace, name })),
  );
  return credentials || hostKeys ? { credentials, hostKeys } : undefined;
}

const withKeys = (site: OfSite | undefined, keys: Omit<Site, keyof OfSite> | undefined): Site | undefined =>
  site || keys
    ? { roles: {}, key: undefined, credentials: undefined, hostKeys: undefined, ...site, ...keys }
    : undefined;

/** Subnets by their label, and any under the wanted names. */
async function outsideOf(kube: Reader, workspace: Workspace): Promise<Outside> {
  const nothing = { isServed: false, vpc: undefined, subnets: [] };
  // While the status is empty, the existing networks show which provider made them.
  if (workspace.status?.networkProvider === 'bridge') return nothing;
  const { metadata, spec } = workspace;
  const selector = labelSelector({ [workspaceUidLabel]: metadata.uid });
  const listed = await ifServed(kube.list(Subnet, { labelSelector: selector }));
  if (listed === undefined) return nothing;
  const names = (spec.networks ?? []).map((network) => subnetName(metadata.name, network.name));
  const known = new Set(listed.map((subnet) => subnet.metadata.name));
  const missing = metadata.deletionTimestamp ? [] : names.filter((name) => !known.has(name));
  const [vpc, others] = await Promise.all([
    kube.get(Vpc, { name: namespaceOf(metadata.name) }),
    getNamed(
      kube,
      Subnet,
      missing.map((name) => ({ name })),
    ),
  ]);
  return { isServed: true, vpc, subnets: [...listed, ...others] };
}

type Found = Pick<Observed, 'workspace' | 'inside' | 'policy'>;

/** The images of the wanted names wherever they may be; the namespaces only if one has to be made. */
async function imagesOf(kube: Reader, found: Found): Promise<Pick<Observed, 'images' | 'imageNamespaces'>> {
  const { workspace, policy } = found;
  const machines = (found.inside?.machines ?? []).filter((machine) => owns(workspace, machine));
  const names = imageNamesOf(workspace);
  const placesOf = (name: string) => [
    ...new Set(
      [usedNamespace(machines, name), heldNamespace(workspace, name), ...policy.values.imageNamespaces].filter(
        (namespace) => namespace !== undefined,
      ),
    ),
  ];
  const refs = names.flatMap((name) => placesOf(name).map((namespace) => ({ namespace, name })));
  const images = await getNamed(kube, VMDiskImage, refs);
  const isComplete = images.length === refs.length;
  const places = !isComplete ? [...new Set(refs.map(({ namespace }) => namespace))] : [];
  const namespaces = await getNamed(
    kube,
    Namespace,
    places.map((name) => ({ name })),
  );
  return {
    images: new Map(images.map((image) => [keyOf(image.metadata), image])),
    imageNamespaces: new Map(namespaces.map((one) => [one.metadata.name, one])),
  };
}
