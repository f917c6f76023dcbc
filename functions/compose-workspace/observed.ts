import type { Deployment } from '../../shared/kinds/apps/deployment.ts';
import type { Job } from '../../shared/kinds/batch/job.ts';
import type { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import type { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import type { Namespace } from '../../shared/kinds/core/namespace.ts';
import type { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import type { Pod } from '../../shared/kinds/core/pod.ts';
import type { Secret } from '../../shared/kinds/core/secret.ts';
import type { Service } from '../../shared/kinds/core/service.ts';
import type { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import type { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import type { NetworkPolicy } from '../../shared/kinds/networking/network-policy.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { owns } from '../../shared/kubernetes/ownership.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import type { Policy } from '../../shared/policy.ts';
import type { Queue } from './schedule/queue.ts';

/** One workspace, and the objects under the names of its components, of any owner. */
export interface Observed {
  nowMs: number;
  policy: Policy;
  refusals: Refusals;
  workspace: Workspace;
  namespace: Namespace | undefined;
  /** What lets the function write in that namespace. */
  roleBinding: RoleBinding | undefined;
  /** What is in the namespace; undefined while the function may not read there. */
  inside: Inside | undefined;
  /** Reading there was forbidden although our RoleBinding exists: it is new, or was changed. */
  isForbidden?: boolean;
  outside: Outside;
  /** What the site has for deploy roles; not read if no machine has any. */
  site?: Site | undefined;
  /** What decides when the images of a workspace are requested that is to start later; not read for any other. */
  queue?: Queue | undefined;
  /** The existing images of the wanted names, by `namespace/name`. */
  images: ReadonlyMap<string, VMDiskImage>;
  /** Where images may be made, by name; not read unless one is missing. */
  imageNamespaces: ReadonlyMap<string, Namespace>;
}

/** All objects of these kinds in the namespace of a workspace. */
export interface Inside {
  networkPolicies: readonly NetworkPolicy[];
  /** The kind NetworkAttachmentDefinition is served here. */
  hasMultus: boolean;
  definitions: readonly NetworkAttachmentDefinition[];
  claims: readonly PersistentVolumeClaim[];
  machines: readonly VirtualMachine[];
  deployments: readonly Deployment[];
  services: readonly Service[];
  jobs: readonly Job[];
  configMaps: readonly ConfigMap[];
  pods: readonly Pod[];
}

/** What the policy asks for deploy roles, as it is in the operator's namespace. */
export interface Site {
  /** The tasks of roles, by `<role>.yml`. */
  roles: Readonly<Record<string, string>>;
  /** What the keys of workspaces are derived from. */
  key: Secret | undefined;
  /** The Secret with the workspace's own key, in its namespace. */
  credentials: Secret | undefined;
  /** The Secret there with the host keys of its machines. */
  hostKeys: Secret | undefined;
}

/** What kube-ovn has of a workspace, outside of any namespace. */
export interface Outside {
  /** kube-ovn's kinds are served here. */
  isServed: boolean;
  vpc: Vpc | undefined;
  subnets: readonly Subnet[];
}

/** What is inside while the function may not read there. */
export const nothingInside: Inside = {
  networkPolicies: [],
  hasMultus: true,
  definitions: [],
  claims: [],
  machines: [],
  deployments: [],
  services: [],
  jobs: [],
  configMaps: [],
  pods: [],
};

/** The observed objects that the workspace owns. Under the name of one of its components there may be an object of another owner. */
export type Own = ReturnType<typeof ownObjects>;

type Ownable = Pick<Observed, 'workspace' | 'namespace' | 'inside' | 'outside' | 'site'>;

export function ownObjects({ workspace, namespace, inside = nothingInside, outside, site }: Ownable) {
  const own = <T extends KubernetesObject>(...found: (T | undefined)[]) =>
    found.filter((object) => object !== undefined).filter((object) => owns(workspace, object));
  return {
    namespaces: own(namespace),
    definitions: own(...inside.definitions),
    claims: own(...inside.claims),
    machines: own(...inside.machines),
    deployments: own(...inside.deployments),
    services: own(...inside.services),
    jobs: own(...inside.jobs),
    configMaps: own(...inside.configMaps),
    secrets: own(site?.credentials, site?.hostKeys),
    subnets: own(...outside.subnets),
    vpcs: own(outside.vpc),
  };
}
