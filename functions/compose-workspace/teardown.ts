import type { Action } from '../../shared/actions.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { Job } from '../../shared/kinds/batch/job.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { Service } from '../../shared/kinds/core/service.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { managedBy } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { type Component, Workspace, workspaceFinalizer } from '../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { hasFinalizer, removeFinalizer } from '../../shared/kubernetes/finalizer.ts';
import { describeLeaving, makeFor } from './child.ts';
import { deleteExcept } from './garbage.ts';
import { namespaceStage, untilSettled } from './namespace/plan.ts';
import type { Observed, Own } from './observed.ts';
import { component } from './stage.ts';
import { updateStatus } from './status.ts';

/** An object that a step of the teardown still has to delete. */
interface Rest {
  resource: Resource;
  object: KubernetesObject;
  component: Component['kind'];
}

/**
 * Deletes everything: what runs → volumes → networks → the router of the networks → namespace → finalizer. Each step waits for
 * the one before, and reports what it waits for and which finalizers hold that.
 */
export function teardown(observed: Observed, own: Own): Action[] {
  const { workspace, inside, isForbidden, nowMs } = observed;
  if (!hasFinalizer(workspace, workspaceFinalizer)) return [];
  const isNamespaceKept = own.namespaces.some(({ metadata }) => metadata.deletionTimestamp === undefined);
  // Only who may write in the namespace can delete what is in it in this order.
  if (isNamespaceKept && !inside) {
    const namespace = namespaceStage(observed, makeFor(observed));
    if (namespace.writes.length > 0 && !isForbidden) return [...namespace.writes, { do: 'requeue', about: workspace }];
    const reported = stillThere(workspace, namespace.components, namespace.components[0]?.message, nowMs);
    return [...namespace.writes, ...reported, ...untilSettled(observed, [namespace])];
  }
  const rest = stepsOf(own, inside?.pods ?? []).find((step) => step.length > 0);
  if (rest) return [...rest.flatMap(remove), ...report(workspace, rest, nowMs)];
  return [removeFinalizer(Workspace, workspace, workspaceFinalizer)];
}

function stepsOf(own: Own, pods: readonly Pod[]): Rest[][] {
  const all = (kind: Component['kind'], resource: Resource, objects: readonly KubernetesObject[]): Rest[] =>
    objects.map((object) => ({ resource, object, component: kind }));
  const running = pods.filter(({ metadata: { labels } }) =>
    Object.entries(managedBy).every(([key, value]) => labels?.[key] === value),
  );
  return [
    [
      ...all('ContainerCluster', Deployment, own.deployments),
      ...all('ContainerCluster', Service, own.services),
      ...all('VirtualMachine', VirtualMachine, own.machines),
      ...all('AnsibleRoles', Job, own.jobs),
    ],
    all('ContainerCluster', Pod, running),
    all('Volume', PersistentVolumeClaim, own.claims),
    [...all('Network', NetworkAttachmentDefinition, own.definitions), ...all('Network', Subnet, own.subnets)],
    all('Network', Vpc, own.vpcs),
    all('Namespace', Namespace, own.namespaces),
  ];
}

/** A Pod is deleted with its owner, which would recreate it if it were deleted by name. */
const remove = ({ resource, object }: Rest): Action[] => (resource === Pod ? [] : deleteExcept(resource, [object]));

function report(workspace: Workspace, rest: readonly Rest[], nowMs: number): Action[] {
  const components = rest.map(({ resource, object, component: kind }) =>
    component(kind, object.metadata.name, {
      phase: 'Terminating',
      reason: 'Terminating',
      message: describeRest(resource, object),
    }),
  );
  const stuck = rest.find(({ object }) => object.metadata.deletionTimestamp !== undefined) ?? rest[0];
  return stillThere(workspace, components, stuck && describeRest(stuck.resource, stuck.object), nowMs);
}

function stillThere(
  workspace: Workspace,
  components: Component[],
  because: string | undefined,
  nowMs: number,
): Action[] {
  return updateStatus(
    workspace,
    {
      phase: 'Provisioning',
      reason: 'Terminating',
      message: because ? `The workspace is being deleted: ${because}` : 'The workspace is being deleted.',
      conditions: [],
      fields: { components, ready: `0/${components.length}` },
    },
    nowMs,
  );
}

/** The status of a Namespace names what remains in it. */
function describeRest(resource: Resource, object: KubernetesObject): string {
  const { conditions = [] } = resource === Namespace ? ((object as Namespace).status ?? {}) : {};
  const left = conditions.filter(({ status }) => status === 'True').map(({ message }) => message);
  return [describeLeaving(resource, object), ...left].join(' ');
}
