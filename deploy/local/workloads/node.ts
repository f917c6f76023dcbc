import { defineResource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { timestamp } from '../api-server/cluster-state.ts';
import type { Clock } from '../clock.ts';
import { nodeName } from './scheduling.ts';

const Node = defineResource({ apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false }, {});

/** Registers the one node that all Pods and guests are on, as its kubelet would. */
export async function registerNode(kube: Kube, clock: Clock): Promise<void> {
  const head = { apiVersion: 'v1', kind: 'Node' };
  const options = { fieldManager: 'kubelet', force: true };
  const labels = { 'kubernetes.io/hostname': nodeName, 'kubernetes.io/os': 'linux' };
  const node = { ...head, metadata: { name: nodeName, labels } };
  await kube.apply(Node, node, options);
  const now = timestamp(clock);
  const condition = (type: string, status: string, reason: string, message: string) => ({
    ...{ type, status, reason, message },
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  const status = {
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
    ],
    addresses: [
      { type: 'InternalIP', address: '127.0.0.1' },
      { type: 'Hostname', address: nodeName },
    ],
    nodeInfo: {
      ...{ architecture: 'amd64', bootID: '', machineID: '', systemUUID: '', operatingSystem: 'linux' },
      ...{ kernelVersion: 'simulated', osImage: 'simulated', containerRuntimeVersion: 'simulated' },
      ...{ kubeletVersion: 'v1.34.4', kubeProxyVersion: '' },
    },
  };
  const reported = { ...head, metadata: { name: nodeName }, status };
  await kube.apply(Node, reported, { ...options, subresource: 'status' });
}
