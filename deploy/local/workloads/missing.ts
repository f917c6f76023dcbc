import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { Secret } from '../controller/kinds.ts';
import type { WorkloadContext } from './context.ts';
import { ConfigMap, type Container, type Pod } from './kinds.ts';
import { networksOf } from './networks.ts';
import type { ObservedPod } from './pod-step.ts';

type Kept = KubernetesObject & { data?: Record<string, string> | undefined };

/** What of a Pod's networks and volumes is not there, in the words of Multus and of the kubelet. */
export async function missingAround(context: WorkloadContext, pod: Pod): Promise<ObservedPod['blocked']> {
  const { namespace } = pod.metadata;
  for (const { name, secret, configMap } of pod.spec.volumes ?? []) {
    const found =
      (secret && !secret.optional && (await missing(context, Secret, namespace, secret.secretName ?? ''))) ||
      (configMap && !configMap.optional && (await missing(context, ConfigMap, namespace, configMap.name ?? '')));
    if (found) return { reason: 'FailedMount', message: `MountVolume.SetUp failed for volume "${name}" : ${found}` };
  }
  const lost = networksOf(pod).find((network) => !context.networks.find(network));
  return lost && { reason: 'FailedCreatePodSandBox', message: sandboxError(pod, lost.namespace ?? '', lost.name) };
}

function sandboxError({ metadata }: Pod, namespace: string, name: string): string {
  const plugin = 'plugin type="multus" name="multus-cni-network" failed (add)';
  const delegates = 'error loading k8s delegates k8s args: TryLoadPodDelegates: error in getting k8s network for pod';
  const cause = `GetNetworkDelegates: failed getting the delegate: getKubernetesDelegate: cannot find a network-attachment-definition (${name}) in namespace (${namespace}): network-attachment-definitions.k8s.cni.cncf.io "${name}" not found`;
  return `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox: ${plugin}: Multus: [${metadata.namespace}/${metadata.name}/${metadata.uid}]: ${delegates}: ${cause}`;
}

/** What a container's environment is to be read from and is not there. */
export async function missingIn(context: WorkloadContext, pod: Pod, container: Container): Promise<string | undefined> {
  const { namespace } = pod.metadata;
  for (const { secretRef, configMapRef } of container.envFrom ?? []) {
    const found =
      (secretRef && !secretRef.optional && (await missing(context, Secret, namespace, secretRef.name))) ||
      (configMapRef && !configMapRef.optional && (await missing(context, ConfigMap, namespace, configMapRef.name)));
    if (found) return found;
  }
  for (const { valueFrom } of container.env ?? []) {
    const { secretKeyRef, configMapKeyRef } = valueFrom ?? {};
    const found =
      (secretKeyRef &&
        !secretKeyRef.optional &&
        (await missing(context, Secret, namespace, secretKeyRef.name, secretKeyRef.key))) ||
      (configMapKeyRef &&
        !configMapKeyRef.optional &&
        (await missing(context, ConfigMap, namespace, configMapKeyRef.name, configMapKeyRef.key)));
    if (found) return found;
  }
  return undefined;
}

async function missing(
  { kube }: WorkloadContext,
  resource: Resource<Kept>,
  namespace: string | undefined,
  name: string,
  key?: string,
): Promise<string | undefined> {
  const found = await kube.get(resource, { namespace, name });
  if (!found) return `${resource.kind.toLowerCase()} "${name}" not found`;
  if (key === undefined || Object.hasOwn(found.data ?? {}, key)) return undefined;
  return `couldn't find key ${key} in ${resource.kind} ${namespace}/${name}`;
}
