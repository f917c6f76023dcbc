import * as z from 'zod';
import { chunk } from '../../shared/chunk.ts';
import { uniqueByName } from '../../shared/distinct.ts';
import {
  type Batch,
  type Context,
  defineFunction,
  on,
  type Subject,
  subjectsOf,
  type Unreadable,
} from '../../shared/function.ts';
import { diskImageFact } from '../../shared/images/status.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { Job } from '../../shared/kinds/batch/job.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
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
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { ClusterRole } from '../../shared/kinds/rbac/cluster-role.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { parsePolicy, policyName } from '../../shared/policy.ts';
import { mapConcurrently } from '../../shared/runtime/concurrency.ts';
import { orUnreadable } from '../../shared/runtime/unreadable.ts';
import { imageNamesOf } from '../../shared/workspaces/images.ts';
import { workspaceIn, workspaceOfSubnet } from '../../shared/workspaces/workspace.ts';
import { decide } from './decide.ts';
import { observeOne } from './gather.ts';
import { roleBindingName } from './namespace/plan.ts';
import type { Observed } from './observed.ts';
import { credentialsName, siteCredentials } from './roles/credentials.ts';
import { workspaceFacts } from './status.ts';

/** The image that a domain event is about. */
const ImageFact = z.object({ namespace: z.string(), name: z.string() });

const inWorkspaces = { selector: { matchLabels: managedBy }, namespace: 'workspace' } as const;

/** Makes machines, containers, volumes and networks of a workspace, and says how all of it stands. */
export default defineFunction<Observed>({
  name: 'compose-workspace',
  on: [
    on.changed(Workspace, { source: 'pelotech' }),
    // How far an image is stands in the image; a workspace waits for its end.
    on.cameOrWent(VMDiskImage, { source: 'pelotech' }),
    on.event(diskImageFact('queued'), ImageFact),
    on.event(diskImageFact('syncing'), ImageFact),
    on.event(diskImageFact('retrying'), ImageFact),
    on.event(diskImageFact('succeeded'), ImageFact),
    on.event(diskImageFact('failed'), ImageFact),
    on.changed(Namespace, { source: 'pelotech', namespace: 'workspace' }),
    on.changed(VirtualMachine, { source: 'pelotech', namespace: 'workspace' }),
    on.changed(Deployment, { source: 'pelotech', ...inWorkspaces }),
    on.changed(Service, { source: 'pelotech', ...inWorkspaces }),
    on.changed(NetworkPolicy, { source: 'pelotech', ...inWorkspaces }),
    on.changed(RoleBinding, { source: 'pelotech', ...inWorkspaces }),
    on.changed(Job, { source: 'pelotech', ...inWorkspaces }),
    on.changed(PersistentVolumeClaim, { source: 'cdi', ...inWorkspaces }),
    on.changed(Pod, { source: 'cdi', ...inWorkspaces }),
    on.changed(Vpc, { source: 'kube-ovn', ...inWorkspaces }),
    on.changed(Subnet, { source: 'kube-ovn', ...inWorkspaces }),
    on.changed(ConfigMap, { source: 'own', name: policyName }),
    // Each namespace that comes or goes makes a hole in the events, which labs under way would fall into one after the other.
    on.sweep(),
    // NetworkAttachmentDefinitions heal by it alone: a source guesses their plural wrong.
    on.audit(),
  ],
  may: [
    { resource: Workspace, verbs: ['get', 'list', 'patch'] },
    { resource: Workspace, subresource: 'status', verbs: ['patch'] },
    { resource: VMDiskImage, verbs: ['get', 'create'] },
    { resource: Namespace, verbs: ['get', 'create', 'update', 'delete'], admissionPolicy: 'workspace' },
    { resource: RoleBinding, verbs: ['get', 'create', 'update'], admissionPolicy: 'workspace' },
    { resource: ClusterRole, verbs: ['bind'], names: [roleBindingName] },
    { resource: Vpc, verbs: ['get', 'create', 'update', 'delete'], admissionPolicy: 'workspace' },
    { resource: Subnet, verbs: ['get', 'list', 'create', 'update', 'delete'], admissionPolicy: 'workspace' },
    { resource: NetworkPolicy, verbs: ['list', 'create', 'update'], namespace: 'workspace' },
    {
      resource: NetworkAttachmentDefinition,
      verbs: ['list', 'create', 'update', 'delete'],
      namespace: 'workspace',
    },
    { resource: PersistentVolumeClaim, verbs: ['list', 'create', 'update', 'delete'], namespace: 'workspace' },
    { resource: VirtualMachine, verbs: ['list', 'create', 'update', 'delete'], namespace: 'workspace' },
    { resource: Deployment, verbs: ['list', 'create', 'update', 'delete'], namespace: 'workspace' },
    { resource: Service, verbs: ['list', 'create', 'update', 'delete'], namespace: 'workspace' },
    { resource: Job, verbs: ['list', 'create', 'delete'], namespace: 'workspace' },
    { resource: ConfigMap, verbs: ['list', 'create', 'update', 'delete'], namespace: 'workspace' },
    { resource: Pod, verbs: ['list'], namespace: 'workspace' },
    { resource: Secret, verbs: ['get', 'update', 'delete'], namespace: 'workspace', names: [credentialsName] },
    // Who may make one is never asked for its name.
    { resource: Secret, verbs: ['create'], namespace: 'workspace' },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    // What opens the machines of all workspaces.
    { resource: Secret, verbs: ['get'], namespace: 'own', names: [siteCredentials] },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'zero',
  facts: workspaceFacts,
  observe,
  decide,
});

/** So many workspaces are looked at at once. */
const atOnce = 10;

async function observe(context: Context, batch: Batch): Promise<(Observed | Unreadable)[]> {
  const { kube } = context;
  const workspaces = await workspacesFor(context, batch);
  if (workspaces.length === 0) return [];
  const policy = parsePolicy(await kube.get(ConfigMap, { namespace: operatorNamespace, name: policyName }));
  return mapConcurrently(workspaces, atOnce, (workspace) =>
    orUnreadable(workspace.metadata, observeOne(context, workspace, policy)),
  );
}

type Reader = Context['kube'];

/** The workspaces that events are about, by name or by the name of what is theirs; all at an audit and under another policy, at a sweep those under way. */
async function workspacesFor({ kube, nowMs }: Context, batch: Batch): Promise<Workspace[]> {
  if (batch.audit || subjectsOf(batch, ConfigMap).some(({ namespace }) => namespace === operatorNamespace)) {
    return kube.list(Workspace);
  }
  const names = new Set(batch.subjects.map(workspaceOf).filter((name) => name !== undefined));
  const [named, waiting, open] = await Promise.all([
    Promise.all([...names].map((name) => kube.get(Workspace, { name }))),
    withImages(kube, batch),
    batch.sweep ? underWay(kube, nowMs) : [],
  ]);
  const found = [...named.filter((workspace) => workspace !== undefined), ...waiting, ...open];
  return uniqueByName(found);
}

/** So many workspaces are looked at in one sweep; of more, others at the next. */
const mostInSweep = 100;
const sweepMs = 30_000;

/** Those that something is still to be done for: of the others nothing is read. */
async function underWay(kube: Reader, nowMs: number): Promise<Workspace[]> {
  const found: Workspace[] = [];
  for await (const { items } of kube.pages(Workspace)) found.push(...items.filter(isUnderWay));
  const rows = chunk(found, mostInSweep);
  return rows[Math.floor(nowMs / sweepMs) % rows.length] ?? [];
}

const isUnderWay = ({ metadata, status }: Workspace) =>
  status?.phase !== 'Ready' ||
  metadata.deletionTimestamp !== undefined ||
  status.observedGeneration !== metadata.generation;

function workspaceOf({ kind, namespace, name }: Subject): string | undefined {
  if (kind === Workspace.kind) return name;
  if (kind === Namespace.kind || kind === Vpc.kind) return workspaceIn(name);
  return kind === Subnet.kind ? workspaceOfSubnet(name) : workspaceIn(namespace);
}

/** Those that want one of the images that events are about. One list, of those that are not Ready: the others have theirs. */
async function withImages(kube: Reader, batch: Batch): Promise<Workspace[]> {
  const told = batch.messages.map(({ data }) => (data as z.infer<typeof ImageFact>).name);
  const images = new Set([...told, ...subjectsOf(batch, VMDiskImage).map(({ name }) => name)]);
  if (images.size === 0) return [];
  const open = await kube.list(Workspace, { fieldSelector: 'status.phase!=Ready' });
  return open.filter((workspace) => imageNamesOf(workspace).some((name) => images.has(name)));
}
