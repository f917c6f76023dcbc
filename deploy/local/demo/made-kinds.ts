import { Deployment } from '../../../shared/kinds/apps/deployment.ts';
import { Job } from '../../../shared/kinds/batch/job.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { Service } from '../../../shared/kinds/core/service.ts';
import { Subnet } from '../../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../../shared/kinds/kube-ovn/vpc.ts';
import { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import { KubeVirtInstance } from '../../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import { NetworkPolicy } from '../../../shared/kinds/networking/network-policy.ts';
import { RoleBinding } from '../../../shared/kinds/rbac/role-binding.ts';
import type { Resource } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';

/** What is made to download an image. */
export const madeForDownloads = [DataVolume, PersistentVolumeClaim, Pod] as readonly Resource[];

/** What is made for images and machines. */
export const madeForMachines = [
  ...madeForDownloads,
  Secret,
  KubeVirtMachine,
  KubeVirtInstance,
  VolumeSnapshot,
] as readonly Resource[];

/** What is made for a workspace and its image, the two themselves and its machines apart. */
export const madeForWorkspaces = [
  Namespace,
  Vpc,
  Subnet,
  NetworkAttachmentDefinition,
  NetworkPolicy,
  RoleBinding,
  ConfigMap,
  Deployment,
  Service,
  Job,
  ...madeForMachines,
] as readonly Resource[];
