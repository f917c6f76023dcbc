import { type Clock, realClock } from '../../../deploy/local/clock.ts';
import { giveAccount } from '../../../deploy/local/openstack/account.ts';
import { startOpenStack } from '../../../deploy/local/openstack/start-openstack.ts';
import { defaultTimes } from '../../../deploy/local/openstack/times.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { policyRef } from '../../../shared/policy.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { credentialsName } from '../../../shared/runtime/openstack/clouds.ts';
import { allowedSources } from '../../support/builders/images.ts';
import { type Crowd, lab, many, nameOf, type Outside } from './crowd.ts';

/** Machines that share a network. */
const onNetwork = 10;

/** All is done by the next audit. */
const soon = Object.fromEntries(Object.keys(defaultTimes).map((what) => [what, 50]));
const noQuotas = {
  compute: { instances: -1, cores: -1, ram: -1 },
  volume: { volumes: -1, gigabytes: -1 },
  network: { network: -1, subnet: -1, port: -1 },
};

/** A minute behind: that of a server which changed just now provision-server would look at once more. */
const clock: Clock = { ...realClock, now: () => realClock.now() - 60_000 };

/** A simulated OpenStack, with an account for all namespaces. */
async function startCloud(kube: Kube): Promise<Outside> {
  const cloud = await startOpenStack({
    clock,
    times: { ...soon, token: defaultTimes.token },
    quotas: noQuotas,
    fetch: async () => new Response(new Uint8Array(1024), { headers: { 'content-length': '1024' } }),
  });
  const asked = { requests: 0, writes: 0 };
  cloud.onCall(({ method }) => {
    asked.requests++;
    if (method !== 'GET') asked.writes++;
  });
  await kube.patch(ConfigMap, policyRef, { data: { allowedSources } });
  await giveAccount(kube, { authUrl: cloud.authUrl, ...cloud.admin });
  return { url: cloud.authUrl, asked: () => ({ ...asked }), stop: cloud.close };
}

const createNamespace = (kube: Kube, name: string) => kube.create(Namespace, { metadata: { name } });

interface MachinesOn {
  beside: string;
  /** Of the machines on network number `group`. */
  namespaceOf(group: number): string;
  /** Makes that namespace, or gives it an account. */
  prepare(kube: Kube, group: number): Promise<unknown>;
}

const machinesOn = ({ beside, namespaceOf, prepare }: MachinesOn): Crowd => ({
  beside,
  counts: [10, 500],
  functions: ['keep-account', 'provision-network', 'provision-server', 'provision-volume', 'retire-project'],
  start: startCloud,
  async make(kube, from, to) {
    const groupOf = (index: number) => Math.floor(index / onNetwork);
    await many(Math.ceil(from / onNetwork), Math.ceil(to / onNetwork), async (group) => {
      await prepare(kube, group);
      const metadata = { name: nameOf('net', group), namespace: namespaceOf(group) };
      await kube.create(VirtualNetwork, { metadata, spec: {} });
    });
    await many(from, to, async (index) => {
      const name = nameOf('server', index);
      const metadata = { name, namespace: namespaceOf(groupOf(index)) };
      const source = { image: 'https://images.example.com/disk.qcow2' };
      await kube.create(Volume, { metadata, spec: { size: '1Gi', source } });
      await kube.create(KupenStackMachine, {
        metadata,
        spec: {
          ...{ vcpu: 1 + (index % 3), memory: '64Mi' },
          ...{ virtualNetworks: [nameOf('net', groupOf(index))], diskAttachments: [{ name }] },
        },
      });
    });
  },
  events: {
    'change of a machine': { about: KupenStackMachine, ref: { namespace: namespaceOf(0), name: nameOf('server', 9) } },
    'change of a network': { about: VirtualNetwork, ref: { namespace: namespaceOf(0), name: nameOf('net', 0) } },
    'change of a volume': { about: Volume, ref: { namespace: namespaceOf(0), name: nameOf('server', 9) } },
  },
});

const project = machinesOn({
  beside: 'machines on OpenStack in one namespace',
  namespaceOf: () => lab,
  // An account of its own, for keep-account to keep.
  prepare: async (kube, group) => {
    if (group > 0) return;
    const { data } = (await kube.get(Secret, { namespace: operatorNamespace, name: credentialsName })) ?? {};
    await kube.create(Secret, { metadata: { namespace: lab, name: credentialsName }, data });
  },
});

const projectName = (group: number) => nameOf(lab, group);

const projects = machinesOn({
  beside: 'machines on OpenStack, ten in a namespace',
  namespaceOf: projectName,
  prepare: (kube, group) => createNamespace(kube, projectName(group)),
});

const accounts: Crowd = {
  beside: 'namespaces with an account of OpenStack',
  counts: [10, 200],
  functions: ['keep-account'],
  make: async (kube, from, to) =>
    void (await many(from, to, async (index) => {
      const namespace = projectName(index);
      await createNamespace(kube, namespace);
      const data = { 'clouds.yaml': Buffer.from('x'.repeat(500)).toString('base64') };
      await kube.create(Secret, { metadata: { namespace, name: credentialsName }, data });
      await kube.create(VirtualNetwork, { metadata: { namespace, name: 'net' }, spec: {} });
    })),
  events: { 'change of a network': { about: VirtualNetwork, ref: { namespace: projectName(9), name: 'net' } } },
};

export const openStackCrowds: Readonly<Record<string, Crowd>> = { project, projects, accounts };
