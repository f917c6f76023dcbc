import { stringify } from 'yaml';
import type { Action } from '../../../shared/actions.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { credentialsFinalizer, kupenstackFinalizer } from '../../../shared/kinds/kupenstack/condition.ts';
import { KupenStackMachine, type KupenStackMachineStatus } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork, type VirtualNetworkStatus } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume, type VolumeStatus } from '../../../shared/kinds/kupenstack/volume.ts';
import { Flavor, flavorName, type Size } from '../../../shared/kinds/openstack/flavor.ts';
import { GlanceImage } from '../../../shared/kinds/openstack/image.ts';
import { Network, Port, Subnet } from '../../../shared/kinds/openstack/network.ts';
import { Project } from '../../../shared/kinds/openstack/project.ts';
import { type OpenStackRequest, uidKey, uidTag } from '../../../shared/kinds/openstack/request.ts';
import { Server } from '../../../shared/kinds/openstack/server.ts';
import { CinderVolume } from '../../../shared/kinds/openstack/volume.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import type { Refusal } from '../../../shared/kubernetes/refusal.ts';
import { callKey } from '../../../shared/openstack/call-key.ts';
import { credentialsName } from '../../../shared/runtime/openstack/clouds.ts';
import { at } from './images.ts';

interface Options<Spec, Status> {
  name?: string;
  namespace?: string;
  uid?: string;
  generation?: number;
  finalizers?: string[];
  deleted?: boolean;
  spec?: Partial<Spec>;
  status?: Partial<Status>;
}

function anObject<T extends KubernetesObject>(
  resource: Resource<T>,
  { name = 'demo', namespace = 'lab', uid = `uid-${name}`, ...options }: Options<object, object>,
  spec: object,
): T {
  return resource.parse({
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: '10',
      generation: options.generation ?? 1,
      creationTimestamp: at(0).replace('.000Z', 'Z'),
      finalizers: options.finalizers ?? [kupenstackFinalizer],
      ...(options.deleted ? { deletionTimestamp: at(0) } : {}),
    },
    spec: { ...spec, ...options.spec },
    ...(options.status ? { status: options.status } : {}),
  });
}

/** A network as the API server shows it, with its finalizer. */
export const aVirtualNetwork = (options: Options<VirtualNetwork['spec'], VirtualNetworkStatus> = {}) =>
  anObject(VirtualNetwork, { name: 'net', ...options }, {});

/** A volume of 1Gi, without a source. */
export const aVolume = (options: Options<Volume['spec'], VolumeStatus> = {}) =>
  anObject(Volume, { name: 'disk', ...options }, { size: '1Gi' });

/** A machine of one vcpu and 64Mi on volume `disk`, on no network. */
export const aKupenStackMachine = (options: Options<KupenStackMachine['spec'], KupenStackMachineStatus> = {}) =>
  anObject(KupenStackMachine, options, { vcpu: 1, memory: '64Mi', diskAttachments: [{ name: 'disk' }] });

/** Neutron's network of that object; without one, a user's own. */
export const aNetwork = (of?: KubernetesObject, more: Partial<Network> = {}): Network =>
  Network.parse({
    id: of ? `id-${of.metadata.name}` : 'id-by-hand',
    name: of?.metadata.name ?? 'by-hand',
    status: 'ACTIVE',
    description: of ? uidTag(of.metadata.uid) : '',
    mtu: 1450,
    subnets: [of ? `id-${of.metadata.name}-subnet` : 'id-by-hand-subnet'],
    ...more,
  });

export const aSubnet = (of: KubernetesObject, more: Partial<Subnet> = {}): Subnet =>
  Subnet.parse({
    id: `id-${of.metadata.name}-subnet`,
    network_id: `id-${of.metadata.name}`,
    description: uidTag(of.metadata.uid),
    cidr: '10.1.2.0/24',
    gateway_ip: '10.1.2.1',
    enable_dhcp: true,
    allocation_pools: [{ start: '10.1.2.2', end: '10.1.2.254' }],
    ...more,
  });

/** A machine's port on a network, which a server may have. */
export const aPort = (of: KubernetesObject, on: Network, more: Partial<Port> = {}): Port =>
  Port.parse({
    id: `id-port-${on.name}`,
    network_id: on.id,
    description: uidTag(of.metadata.uid),
    fixed_ips: [{ ip_address: '10.1.2.7', subnet_id: on.subnets[0] ?? '' }],
    ...more,
  });

/** Cinder's volume of that object, free; without one, a user's own. */
export const aCinderVolume = (of?: KubernetesObject, more: Partial<CinderVolume> = {}): CinderVolume =>
  CinderVolume.parse({
    id: of ? `id-${of.metadata.name}` : 'id-by-hand',
    name: of?.metadata.name ?? 'by-hand',
    status: 'available',
    size: 1,
    bootable: 'true',
    metadata: of ? { [uidKey]: of.metadata.uid } : {},
    ...more,
  });

/** The fields of a volume that a server has. */
export const heldBy = (server: string, device = '/dev/vda'): Partial<CinderVolume> => ({
  status: 'in-use',
  attachments: [{ server_id: server, device }],
});

/** An image of Glance that can be used. */
export const anImage = (more: Partial<GlanceImage> = {}): GlanceImage =>
  GlanceImage.parse({ id: 'id-image', name: 'cirros', status: 'active', ...more });

/** The flavor of that size as we make it. */
export const aFlavor = (size: Partial<Size> = {}, more: Partial<Flavor> = {}): Flavor => {
  const all = { vcpus: 1, ram: 64, swap: 0, ...size };
  return Flavor.parse({ id: `id-${flavorName(all)}`, name: flavorName(all), disk: 0, ...all, ...more });
};

/** A machine's server, which runs and has these volumes. */
export const aServer = (of: KubernetesObject, more: Partial<Server> = {}, volumes: readonly string[] = ['id-disk']) =>
  Server.parse({
    id: 'id-server',
    name: of.metadata.name,
    status: 'ACTIVE',
    updated: at(0),
    tags: [uidTag(of.metadata.uid)],
    'OS-EXT-STS:task_state': null,
    'OS-SRV-USG:launched_at': at(0),
    'OS-EXT-SRV-ATTR:host': 'host-1',
    'OS-EXT-SRV-ATTR:root_device_name': '/dev/vda',
    host_status: 'UP',
    flavor: { vcpus: 1, ram: 64, swap: 0 },
    'os-extended-volumes:volumes_attached': volumes.map((id) => ({ id })),
    ...more,
  });

/** A project that was made for the namespace of that uid. */
export const aProject = (uid: string, more: Partial<Project> = {}): Project =>
  Project.parse({ id: `id-${uid}`, name: `lab-${uid}`, tags: ['kupenstack', uidTag(uid)], ...more });

export interface Account {
  authUrl: string;
  userName: string;
  password: string;
  projectName: string;
}

/** A clouds.yaml for an account, with the region of the simulated OpenStack. */
export const cloudsYamlOf = ({ authUrl, userName, password, projectName }: Account): string =>
  stringify({
    clouds: {
      openstack: {
        auth: { auth_url: authUrl, username: userName, password, project_name: projectName },
        region_name: 'RegionOne',
      },
    },
  });

export interface SecretOptions {
  namespace?: string;
  finalizers?: string[];
  deleted?: boolean;
}

/** The Secret with a clouds.yaml, guarded unless said otherwise. */
export const aCredentialsSecret = (
  cloudsYaml: string,
  { namespace = 'lab', finalizers = [credentialsFinalizer], deleted = false }: SecretOptions = {},
): Secret =>
  Secret.parse({
    metadata: {
      name: credentialsName,
      namespace,
      uid: `uid-credentials-${namespace}`,
      resourceVersion: '3',
      finalizers,
      ...(deleted ? { deletionTimestamp: at(0) } : {}),
    },
    data: { 'clouds.yaml': Buffer.from(cloudsYaml).toString('base64') },
  });

/** What a reconcile remembers of requests that were refused for an object. */
export const refusing = (of: KubernetesObject, ...refused: readonly [OpenStackRequest, string][]) =>
  new Map(refused.map(([request, words]) => [callKey(of, request), refusalSaying(words)]));

function refusalSaying(words: string): Refusal {
  const [reason = '', ...message] = words.split(': ');
  return { reason, message: message.join(': ') };
}

/** "createPort id-net", "patchStatus", "lookLater 2000": what a decision does, in its order. */
export const saying = (actions: readonly Action[]): string[] =>
  actions.map((action) => {
    if (action.do === 'call') return [action.request.operation, action.request.about].filter(Boolean).join(' ');
    if (action.do === 'requeueAfter') return `requeueAfter ${action.afterMs}`;
    return action.do === 'recordEvent' ? `recordEvent ${action.type} ${action.reason}` : action.do;
  });

/** The requests of a decision, as they are sent. */
export const requestsIn = (actions: readonly Action[]): OpenStackRequest[] =>
  actions.filter((action) => action.do === 'call').map(({ request }) => request);

/** The status that a decision writes; null is what it takes away. */
export const statusIn = <Status>(actions: readonly Action[]) =>
  actions.find((action) => action.do === 'patchStatus')?.status as { [Field in keyof Status]?: Status[Field] | null };

/** "False QuotaExceeded" by the condition's type. */
export const conditionsIn = (actions: readonly Action[]): Record<string, string> => {
  const { conditions } = (statusIn<{ conditions: { type: string; status: string; reason: string }[] }>(actions) ??
    {}) as { conditions?: { type: string; status: string; reason: string }[] };
  return Object.fromEntries((conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]));
};
