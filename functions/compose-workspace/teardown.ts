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
import { owns } from '../../shared/kubernetes/ownership.ts';
import { describeLeaving } from './child.ts';
import { namespaceStage, untilSettled } from './namespace/plan.ts';
import type { Observed } from './observed.ts';
import { component } from './stage.ts';
import { stand } from './status.ts';

/** What is still there of a step of the way down. */
interface Rest {
  resource: Resource;
  object: KubernetesObject;
  component: Component['kind'];
}

/**
 * Takes everything down: what runs → volumes → networks → the router of the networks → namespace → finalizer. Each step waits
 * for the one before, and says what it waits for and who holds that.
 */
export function teardown(observed: Observed): Action[] {
  const { workspace, namespace, inside } = observed;
  const { finalizers = [] } = workspace.metadata;
  if (!finalizers.includes(workspaceFinalizer)) return [];
  const hasNamespace = namespace !== undefined && owns(workspace, namespace);
  // What is in the namespace can be taken down in its order only by who may write there.
  if (hasNamespace && !inside && !namespace.metadata.deletionTimestamp) return regain(observed);
  const rest = stepsOf(observed).find((step) => step.length > 0);
  if (rest) return [...rest.flatMap(remove), ...say(observed, rest)];
  const others = finalizers.filter((finalizer) => finalizer !== workspaceFinalizer);
  return [{ do: 'patchMetadata', resource: Workspace, of: workspace, metadata: { finalizers: others } }];
}

function regain(observed: Observed): Action[] {
  const stage = namespaceStage(observed);
  const about = observed.workspace;
  if (stage.writes.length > 0 && !observed.isForbidden) return [...stage.writes, { do: 'requeue', about }];
  const [obstacle] = stage.components;
  return [
    ...stage.writes,
    ...stillThere(observed, stage.components, obstacle?.message),
    ...untilSettled(observed, [stage]),
  ];
}

function stepsOf(observed: Observed): Rest[][] {
  const { workspace, namespace, inside, outside } = observed;
  const ours = (
    kind: Component['kind'],
    resource: Resource,
    objects: readonly KubernetesObject[] | undefined,
  ): Rest[] =>
    (objects ?? [])
      .filter((object) => owns(workspace, object))
      .map((object) => ({ resource, object, component: kind }));
  const runs = [
    ...ours('ContainerCluster', Deployment, inside?.deployments),
    ...ours('ContainerCluster', Service, inside?.services),
    ...ours('VirtualMachine', VirtualMachine, inside?.machines),
    ...ours('AnsibleRoles', Job, inside?.jobs),
  ];
  const running = (inside?.pods ?? [])
    .filter(({ metadata: { labels } }) => Object.entries(managedBy).every(([key, value]) => labels?.[key] === value))
    .map((object): Rest => ({ resource: Pod, object, component: 'ContainerCluster' }));
  return [
    runs,
    running,
    ours('Volume', PersistentVolumeClaim, inside?.claims),
    [...ours('Network', NetworkAttachmentDefinition, inside?.definitions), ...ours('Network', Subnet, outside.subnets)],
    ours('Network', Vpc, outside.vpc ? [outside.vpc] : []),
    ours('Namespace', Namespace, namespace ? [namespace] : []),
  ];
}

/** A Pod goes with what made it: taken away by its name it would be made anew. */
const remove = ({ resource, object }: Rest): Action[] =>
  object.metadata.deletionTimestamp !== undefined || resource === Pod ? [] : [{ do: 'delete', resource, of: object }];

function say(observed: Observed, rest: readonly Rest[]): Action[] {
  const components = rest.map(({ resource, object, component: kind }) =>
    component(kind, object.metadata.name, {
      phase: 'Terminating',
      reason: 'Terminating',
      message: describeRest(resource, object),
    }),
  );
  const stuck = rest.find(({ object }) => object.metadata.deletionTimestamp !== undefined) ?? rest[0];
  return stillThere(observed, components, stuck && describeRest(stuck.resource, stuck.object));
}

function stillThere({ workspace, nowMs }: Observed, components: Component[], because: string | undefined): Action[] {
  return stand(
    workspace,
    {
      phase: 'Provisioning',
      reason: 'Terminating',
      message: because ? `The workspace is being deleted: ${because}` : 'The workspace is being deleted.',
      findings: [],
      fields: { components, ready: `0/${components.length}` },
    },
    nowMs,
  );
}

/** A Namespace says of itself what is left in it. */
function describeRest(resource: Resource, object: KubernetesObject): string {
  const { conditions = [] } = resource === Namespace ? ((object as Namespace).status ?? {}) : {};
  const left = conditions.filter(({ status }) => status === 'True').map(({ message }) => message);
  return [describeLeaving(resource, object), ...left].join(' ');
}
