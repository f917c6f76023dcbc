import { randomBytes } from 'node:crypto';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { Flavor, listFlavors } from '../../../shared/kinds/openstack/flavor.ts';
import { GlanceImage } from '../../../shared/kinds/openstack/image.ts';
import { KeyPair } from '../../../shared/kinds/openstack/key-pair.ts';
import { listNetworks, listPorts, Network, Port } from '../../../shared/kinds/openstack/network.ts';
import { listProjects, Project } from '../../../shared/kinds/openstack/project.ts';
import { type OpenStackRequest, uidTag } from '../../../shared/kinds/openstack/request.ts';
import { listServers, Server } from '../../../shared/kinds/openstack/server.ts';
import { CinderVolume, listVolumes } from '../../../shared/kinds/openstack/volume.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Session } from '../../../shared/runtime/openstack/session.ts';
import { type ProvesPermissions, until } from '../world.ts';

/** A cluster and an OpenStack as a story sees them. */
export interface OpenStackWorld {
  kube: Kube;
  /** A namespace of the story's own, which has no credentials: its project is made by the account of all. */
  namespace: string;
  /** OpenStack's administrator, in his own project. */
  admin: Session;
  /** The same person in a project of that id. */
  within(project: string): Session;
  /** Where this OpenStack's Keystone is, and who its administrator is. */
  login: { authUrl: string; userName: string; password: string; projectName: string };
  /** No answer of that service for so long. */
  hang(service: 'compute' | 'network' | 'volume' | 'identity', milliseconds: number): void;
  /** Takes the one compute host down, or brings it back; on the simulated one only. */
  setHostUp(isUp: boolean): void;
  /** A place that Glance can download from: the URL of a file of this size. */
  imageUrl(name: string): string;
  /** Lets those downloads end that have `held` in their name. */
  letDownload(): void;
}

/** One story, for the simulated OpenStack and for the real services. */
export interface OpenStackStory {
  name: string;
  /** Why it runs on the simulated one only. */
  simulatedOnly?: string;
  /** Takes too long on real services for each CI run: only `--mode slow` runs it there. */
  isLong?: true;
  /** Runs on a real cluster, too: together these use every permission that is granted. */
  smoke?: true;
  /** It proves that permissions are needed. */
  provesPermissions?: ProvesPermissions;
  run(world: OpenStackWorld): Promise<void>;
}

export const newNamespace = () => `os-${randomBytes(4).toString('hex')}`;

type InNamespace = Pick<OpenStackWorld, 'kube' | 'namespace'>;
type InProject = InNamespace & Pick<OpenStackWorld, 'admin' | 'within'>;

const create = <T extends KubernetesObject>(
  { kube, namespace }: InNamespace,
  resource: Resource<T>,
  name: string,
  spec: object,
) =>
  kube.create(resource, { apiVersion: resource.apiVersion, kind: resource.kind, metadata: { name, namespace }, spec });

export const createMachine = (world: InNamespace, name: string, spec: object) =>
  create(world, KupenStackMachine, name, { vcpu: 1, memory: '64Mi', ...spec });

export const createNetwork = (world: InNamespace, name: string, spec: object = {}) =>
  create(world, VirtualNetwork, name, spec);

export const createVolume = (world: InNamespace, name: string, spec: object = {}) =>
  create(world, Volume, name, { size: '1Gi', ...spec });

/** Resolves with the machine as soon as `isSo` holds. */
export const untilMachine = (
  world: InNamespace,
  name: string,
  isSo: (machine: KupenStackMachine) => boolean,
): Promise<KupenStackMachine> => untilSo(world, KupenStackMachine, name, isSo);

export async function untilSo<T extends KubernetesObject>(
  { kube, namespace }: InNamespace,
  resource: Resource<T>,
  name: string,
  isSo: (object: T) => boolean,
): Promise<T> {
  const found = await until(
    { kube },
    resource,
    { namespace, name },
    (object) => object !== undefined && isSo(object),
    waitMs,
  );
  if (!found) throw new Error(`expected ${resource.kind} ${name}`);
  return found;
}

const waitMs = 90_000;

/** How vi.waitFor asks for what only OpenStack knows. */
export const polling = { timeout: 30_000, interval: 200 };

export const untilGone = <T extends KubernetesObject>(
  { kube, namespace }: OpenStackWorld,
  resource: Resource<T>,
  name: string,
) => until({ kube }, resource, { namespace, name }, (object) => object === undefined, waitMs);

export const isPhase =
  (phase: string) =>
  ({ status }: { status?: { phase?: string | undefined } | undefined }) =>
    status?.phase === phase;

/** True where condition Ready is False for that reason. */
export const isWaitingFor =
  (reason: string) =>
  ({
    status,
  }: {
    status?: { conditions?: { type: string; reason: string; status: string }[] | undefined } | undefined;
  }) =>
    status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'False' && one.reason === reason) ?? false;

/** Deletes the object and waits until it is gone. */
export async function remove<T extends KubernetesObject>(world: OpenStackWorld, resource: Resource<T>, name: string) {
  await world.kube.delete(resource, { namespace: world.namespace, name });
  await untilGone(world, resource, name);
}

/** Ready of the generation that was written last. */
export const isReady = ({ metadata, status }: KupenStackMachine) =>
  status?.observedGeneration === metadata.generation &&
  status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

export const changeMachine = ({ kube, namespace }: OpenStackWorld, name: string, spec: object) =>
  kube.patch(KupenStackMachine, { namespace, name }, { spec });

/** The session of the namespace's project; throws where it has none yet. */
export async function projectOf({ kube, namespace, admin, within }: InProject): Promise<Session> {
  const found = await kube.get(Namespace, { name: namespace });
  const [project] = await admin.list(listProjects(uidTag(found?.metadata.uid ?? '')), 'projects', Project);
  if (!project) throw new Error(`expected a project for namespace ${namespace}`);
  return within(project.id);
}

export const flavorsOf = async (project: Session) =>
  (await project.list(listFlavors(), 'flavors', Flavor)).map(({ name }) => name);

/** What is in the project, by name and state. */
export async function contentOf(project: Session) {
  const { project: of } = await project.login();
  const [servers, volumes, networks, ports, images, keyPairs] = await Promise.all([
    project.list(listServers(), 'servers', Server),
    project.list(listVolumes(), 'volumes', CinderVolume),
    project.list(listNetworks(of.id), 'networks', Network),
    project.list(listPorts(of.id), 'ports', Port),
    project.list(
      { service: 'image', operation: 'listImages', method: 'GET', path: `/v2/images?owner=${of.id}` },
      'images',
      GlanceImage,
    ),
    project.list(
      { service: 'compute', operation: 'listKeyPairs', method: 'GET', path: '/os-keypairs' },
      'keypairs',
      KeyPair,
    ),
  ]);
  return { servers, volumes, networks, ports, images, keyPairs };
}

/** What a person asks of OpenStack, behind our back. */
export const byHand = (
  session: Session,
  service: OpenStackRequest['service'],
  method: OpenStackRequest['method'],
  path: string,
  body?: object,
) => session.send({ service, operation: 'byHand', method, path, ...(body ? { body } : {}) });

/** Creates what a person would; hands back its id. */
export async function createByHand(
  session: Session,
  service: OpenStackRequest['service'],
  path: string,
  what: string,
  body: object,
): Promise<string> {
  const answer = await byHand(session, service, 'POST', path, { [what]: body });
  const { [what]: made } = answer as Record<string, { id: string } | undefined>;
  if (!made) throw new Error(`expected a ${what} in the answer to POST ${path}, found ${JSON.stringify(answer)}`);
  return made.id;
}

/** Makes a bootable volume as a person would who has no image: an empty one, set bootable. */
export async function makeBootable(world: InProject, name: string): Promise<string> {
  const volume = await untilSo(world, Volume, name, isPhase('Available'));
  const id = volume.status?.id ?? '';
  const body = { 'os-set_bootable': { bootable: true } };
  await byHand(await projectOf(world), 'volume', 'POST', `/volumes/${id}/action`, body);
  return id;
}

/** A machine that runs, on one bootable disk. */
export async function runningMachine(world: OpenStackWorld, spec: object = {}): Promise<KupenStackMachine> {
  await createVolume(world, 'disk');
  await createMachine(world, 'vm', { diskAttachments: [{ name: 'disk' }], ...spec });
  await makeBootable(world, 'disk');
  return untilMachine(world, 'vm', isReady);
}
