import { defineFunction, on } from '../../shared/function.ts';
import { imageFacts } from '../../shared/images/facts.ts';
import { leaseName } from '../../shared/images/slots.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { Job } from '../../shared/kinds/batch/job.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
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
import { policyName } from '../../shared/policy.ts';
import { siteKeyRef } from '../../shared/workspaces/site-key.ts';
import { decide } from './decide.ts';
import { audit, gather } from './gather.ts';
import { roleBindingName } from './namespace/plan.ts';
import type { Observed } from './observed.ts';
import { credentialsName } from './roles/credentials.ts';
import { hostKeysName } from './roles/host-keys.ts';
import { workspaceFacts } from './status.ts';

const inWorkspaces = { selector: { matchLabels: managedBy }, namespace: 'workspace' } as const;

/** Creates machines, containers, volumes and networks of a workspace, and reports their status. */
export default defineFunction<Observed>({
  name: 'compose-workspace',
  system: 'workspaces',
  on: [
    on.changed(Workspace, { source: 'pelotech' }),
    // The sweep finds the image that does not count its workspace yet.
    ...imageFacts(['queued', 'syncing', 'retrying', 'succeeded', 'ready', 'failed', 'pruned'], { named: 'true' }),
    on.changed(Namespace, { source: 'pelotech', namespace: 'workspace' }),
    on.changed(VirtualMachine, { source: 'pelotech', ...inWorkspaces }),
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
    // It deletes what has expired.
    { resource: Workspace, verbs: ['get', 'list', 'patch', 'delete'] },
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
    {
      resource: Secret,
      verbs: ['get', 'update', 'delete'],
      namespace: 'workspace',
      names: [credentialsName, hostKeysName],
    },
    // Who may make one is never asked for its name.
    { resource: Secret, verbs: ['create'], namespace: 'workspace' },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
    // What start-sync expects of images that are requested now.
    { resource: Lease, verbs: ['get'], namespace: 'own', names: [leaseName] },
    // What the keys of all workspaces are derived from.
    { resource: Secret, verbs: ['get'], namespace: 'own', names: [siteKeyRef.name] },
    { resource: Event, verbs: ['create'] },
  ],
  scale: 'zero',
  facts: workspaceFacts,
  audit,
  observe: gather,
  decide,
});
