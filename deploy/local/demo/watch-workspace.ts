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
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace, workspaceUidLabel } from '../../../shared/kinds/pelotech/workspace.ts';
import { RoleBinding } from '../../../shared/kinds/rbac/role-binding.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { realClock } from '../clock.ts';
import { reflect } from '../eventing/reflect.ts';
import { conditions, followKinds } from './act.ts';
import { type PartStep, type WatchedWorkspace, watchWorkspace } from './watched-workspace.ts';
import type { DemoWorkspace } from './workspace.ts';

/** What somebody who watches a workspace and all that is made for it has seen, brought up to date with every change. */
export interface WorkspaceWatching {
  /** As it was last, also where it is gone. */
  readonly workspace: WatchedWorkspace | undefined;
  readonly goneAtMs: number | undefined;
  /** The Deployment of that container cluster, as it is now. */
  deployment(name: string): Deployment | undefined;
  /** What was made before its time. */
  tooEarly(): string[];
  /** What is there that was made for it. */
  leftOver(): string[];
  /** Resolves once it is so. */
  until(isSo: () => boolean): Promise<void>;
}

export interface WatchWorkspaceOptions {
  kube: Kube;
  lab: DemoWorkspace;
  /** Where its image is made. */
  imageNamespace: string;
  signal: AbortSignal;
  /** A part took a step. */
  onPart(step: PartStep): void;
  /** The workspace itself went over into another phase, or is gone. */
  onWorkspace(workspace: WatchedWorkspace, isGone: boolean): void;
}

/** Watches a workspace, its image, and every kind that is made for the two; resolves when every watch is about to begin. */
export async function watchLab(options: WatchWorkspaceOptions): Promise<WorkspaceWatching> {
  const { kube, lab, signal } = options;
  const context = { clock: realClock, signal };
  const { changed, until } = conditions();
  const machines: VirtualMachine[] = [];
  const seen: { workspace?: WatchedWorkspace; goneAtMs?: number; image?: VMDiskImage } = {};
  const see = (object: Workspace) => {
    const before = seen.workspace;
    const now = watchWorkspace(before, object, Date.now());
    seen.workspace = now;
    for (const step of now.steps.slice(before?.uid === now.uid ? before.steps.length : 0)) options.onPart(step);
    if (before?.uid !== now.uid || before.phase !== now.phase || before.isTerminating !== now.isTerminating)
      options.onWorkspace(now, false);
  };
  const [there] = await Promise.all([
    followKinds(kube, madeKinds, signal, changed),
    reflect(kube, VirtualMachine, { namespace: lab.namespace }, context, {
      changed: ({ type, object }) => {
        if (type === 'ADDED') machines.push(object);
      },
    }),
    reflect(kube, VMDiskImage, { namespace: options.imageNamespace }, context, {
      changed: ({ object }) => {
        if (object.metadata.name === lab.image) seen.image = object;
      },
    }),
    reflect(kube, Workspace, {}, context, {
      changed: ({ type, object }) => {
        if (object.metadata.name !== lab.name) return;
        if (type === 'DELETED') seen.goneAtMs = Date.now();
        else see(object);
        if (type === 'DELETED' && seen.workspace) options.onWorkspace(seen.workspace, true);
        changed();
      },
    }),
  ]);
  return {
    get workspace() {
      return seen.workspace;
    },
    get goneAtMs() {
      return seen.goneAtMs;
    },
    deployment: (name) => there.get(Deployment)?.get(`${lab.namespace}/${name}`) as Deployment | undefined,
    tooEarly: () => machines.flatMap((machine) => whyTooEarly(machine, seen.image) ?? []),
    leftOver: () =>
      [...there].flatMap(([{ kind }, objects]) =>
        [...objects.values()]
          .filter((object) => isOf(object, lab, seen.workspace?.uid, seen.image?.metadata.uid))
          .map(({ metadata }) => [kind, [metadata.namespace, metadata.name].filter(Boolean).join('/')].join(' ')),
      ),
    until,
  };
}

const madeKinds: readonly Resource[] = [
  Workspace,
  Namespace,
  Vpc,
  Subnet,
  NetworkAttachmentDefinition,
  NetworkPolicy,
  RoleBinding,
  ConfigMap,
  Secret,
  Deployment,
  Service,
  Job,
  Pod,
  PersistentVolumeClaim,
  DataVolume,
  VirtualMachine,
  KubeVirtMachine,
  KubeVirtInstance,
  VMDiskImage,
  VolumeSnapshot,
];

/** It is the workspace, its image, or made for one of the two. */
function isOf({ kind, metadata }: KubernetesObject, lab: DemoWorkspace, uid = '', imageUid = '') {
  const { name, namespace, labels = {} } = metadata;
  if (namespace === lab.namespace || name === lab.namespace) return true;
  if (kind === Workspace.kind) return name === lab.name;
  if (kind === VMDiskImage.kind) return name === lab.image;
  return labels[workspaceUidLabel] === uid || labels[imageUidLabel] === imageUid;
}

/** The machine was made before its image was there, by what both objects say; undefined where it was not. */
function whyTooEarly({ metadata }: VirtualMachine, image: VMDiskImage | undefined): string | undefined {
  const completedAt = image?.status?.completedAt;
  const madeAt = metadata.creationTimestamp;
  // A creationTimestamp has whole seconds.
  if (completedAt && Date.parse(madeAt) >= Math.floor(Date.parse(completedAt) / 1000) * 1000) return undefined;
  return `${metadata.name} was made at ${madeAt}, before its image was there (${completedAt ?? 'not yet'})`;
}
