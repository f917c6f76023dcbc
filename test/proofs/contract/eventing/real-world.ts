import { networkInterfaces } from 'node:os';
import { KubeConfig } from '@kubernetes/client-node';
import * as z from 'zod';
import { defineResource } from '../../../../shared/kinds/resource.ts';
import { type Kube, kubeClient } from '../../../../shared/runtime/kube.ts';
import { portForward } from '../../../cluster/kubectl.ts';
import { startFunctions } from './functions-under-test.ts';
import { EndpointSlice, Namespace, Service } from './objects.ts';
import { functionsService, type World } from './world.ts';

/** The cluster that KUBECONFIG names. */
export function kubeFromEnvironment(): Kube {
  const config = new KubeConfig();
  config.loadFromDefault();
  return kubeClient(config);
}

/** Makes the contract's world on the cluster of KUBECONFIG; closing it deletes all it made. */
export async function openRealWorld(): Promise<World> {
  const kube = kubeFromEnvironment();
  const host = await hostForPods(kube);
  const namespace = `eventing-${crypto.randomUUID().slice(0, 8)}`;
  const otherNamespace = `${namespace}-other`;
  for (const name of [namespace, otherNamespace]) await kube.create(Namespace, { metadata: { name } });
  const functions = await startFunctions(host);
  await addService(kube, namespace, host, Number(new URL(functions.urlOf('')).port));
  const ingress = await portForward('knative-eventing', 'broker-ingress', 80);
  return {
    kube,
    namespace,
    otherNamespace,
    functions,
    ingress: ingress.url,
    close: async () => {
      for (const name of [namespace, otherNamespace]) await kube.delete(Namespace, { name });
      ingress.close();
      await functions.close();
    },
  };
}

/** A Service that leads out of the cluster to this process. */
async function addService(kube: Kube, namespace: string, address: string, port: number) {
  const labels = { 'kubernetes.io/service-name': functionsService };
  await kube.create(Service, {
    metadata: { name: functionsService, namespace },
    spec: { ports: [{ port: 80, targetPort: port }] },
  });
  await kube.create(EndpointSlice, {
    metadata: { name: functionsService, namespace, labels },
    addressType: 'IPv4',
    ports: [{ port }],
    endpoints: [{ addresses: [address] }],
  });
}

const Node = defineResource(
  { apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false },
  { status: z.looseObject({ addresses: z.array(z.object({ type: z.string(), address: z.string() })) }) },
);

/**
 * The address under which pods reach this process: SUBSCRIBER_HOST, or that of the node this runs on. Throws where
 * this machine is no node of the cluster.
 */
export async function hostForPods(kube: Kube): Promise<string> {
  const { SUBSCRIBER_HOST: given } = process.env;
  if (given) return given;
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
  const ofNodes = (await kube.list(Node)).flatMap((node) => node.status.addresses.map(({ address }) => address));
  const shared = ofNodes.find((address) => own.includes(address));
  if (shared) return shared;
  throw new Error(
    `expected to run on a node of the cluster (${ofNodes}), found ${own}: set SUBSCRIBER_HOST to an address at which pods reach this machine`,
  );
}
