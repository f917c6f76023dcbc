import { expect, vi } from 'vitest';
import * as z from 'zod';
import { cloudsYaml } from '../../../deploy/local/openstack/account.ts';
import { Event } from '../../../shared/kinds/core/event.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { credentialsFinalizer } from '../../../shared/kinds/kupenstack/condition.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { listProjects, Project } from '../../../shared/kinds/openstack/project.ts';
import { uidTag } from '../../../shared/kinds/openstack/request.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { credentialsName } from '../../../shared/runtime/openstack/clouds.ts';
import { byName, until } from '../world.ts';
import { sessionOf } from './services.ts';
import {
  byHand,
  contentOf,
  createByHand,
  createMachine,
  createNetwork,
  createVolume,
  isPhase,
  isReady,
  isWaitingFor,
  type OpenStackStory,
  type OpenStackWorld,
  polling,
  remove,
  untilMachine,
  untilSo,
} from './world.ts';

/** A project of the story's own, and a person with the role `member` in it, made by OpenStack's administrator. */
async function aMember({ admin, namespace, login }: OpenStackWorld) {
  const make = (what: string, body: object) => createByHand(admin, 'identity', `/${what}s`, what, body);
  const password = `pw-of-${namespace}-4711`;
  const project = await make('project', { name: `own-${namespace}`, domain_id: 'default' });
  const user = await make('user', { name: `user-${namespace}`, password, domain_id: 'default' });
  const roles = await admin.list(
    { service: 'identity', operation: 'byHand', method: 'GET', path: '/roles' },
    'roles',
    z.looseObject({ id: z.string(), name: z.string() }),
  );
  const member = roles.find(({ name }) => name === 'member')?.id;
  await byHand(admin, 'identity', 'PUT', `/projects/${project}/users/${user}/roles/${member}`);
  const own = { authUrl: login.authUrl, userName: `user-${namespace}`, password, projectName: `own-${namespace}` };
  return {
    login: own,
    session: sessionOf(own),
    leave: async () => {
      await byHand(admin, 'identity', 'DELETE', `/users/${user}`);
      await byHand(admin, 'identity', 'DELETE', `/projects/${project}`);
    },
  };
}

/** A flavor that OpenStack's administrator makes, for who may make none; what is handed back deletes it. */
async function flavorByHand({ admin, namespace }: OpenStackWorld, vcpus: number) {
  const flavor = { name: `of-${namespace}`, vcpus, ram: 64, disk: 0 };
  const id = await createByHand(admin, 'compute', '/flavors', 'flavor', flavor);
  return () => byHand(admin, 'compute', 'DELETE', `/flavors/${id}`);
}

const secretOf = ({ namespace }: OpenStackWorld, text: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: credentialsName, namespace },
  data: { 'clouds.yaml': Buffer.from(text).toString('base64') },
});

/** Nothing that anybody may read in the namespace says it. */
async function expectUnsaid({ kube, namespace }: OpenStackWorld, secret: string) {
  for (const kind of [VirtualNetwork, Volume, KupenStackMachine, Event] as unknown as Resource<KubernetesObject>[])
    expect(JSON.stringify(await kube.list(kind, { namespace }))).not.toContain(secret);
}

/** Deletes the namespace; its one project goes once nothing is in it. */
async function expectProjectToGo({ kube, namespace, admin }: OpenStackWorld) {
  const uid = (await kube.get(Namespace, { name: namespace }))?.metadata.uid ?? '';
  const projects = () => admin.list(listProjects(uidTag(uid)), 'projects', Project);
  expect(await projects()).toHaveLength(1);
  await kube.delete(Namespace, { name: namespace });
  await until({ kube }, Namespace, { name: namespace }, (found) => found === undefined, 90_000);
  await vi.waitFor(async () => expect(await projects()).toEqual([]), { ...polling, timeout: 60_000 });
}

/** Whose account makes things, and what becomes of it. */
export const stories = byName<OpenStackStory>({
  "a namespace's own account, a member's: it takes an existing flavor, sees no host, and its Secret stays as long as it is needed":
    {
      smoke: true,
      async run(world) {
        const { kube, namespace } = world;
        const { login, leave } = await aMember(world);
        await kube.create(Secret, secretOf(world, cloudsYaml(login)));
        await createVolume(world, 'disk', { source: { image: world.imageUrl('disk.raw') } });
        await createMachine(world, 'vm', { vcpu: 11, diskAttachments: [{ name: 'disk' }] });
        const waiting = await untilMachine(world, 'vm', isWaitingFor('FlavorMissing'));
        expect(waiting.status?.message).toContain('11 vcpus, 64 MiB memory');
        const removeFlavor = await flavorByHand(world, 11);
        const { status } = await untilMachine(world, 'vm', isReady);
        expect(status?.node).toBeUndefined();
        const ref = { namespace, name: credentialsName };
        expect((await kube.get(Secret, ref))?.metadata.finalizers).toEqual([credentialsFinalizer]);
        await kube.delete(Secret, ref);
        await remove(world, KupenStackMachine, 'vm');
        expect(await kube.get(Secret, ref)).toBeDefined();
        await kube.delete(Volume, { namespace, name: 'disk' });
        await until({ kube }, Secret, ref, (secret) => secret === undefined, 60_000);
        await expectUnsaid(world, login.password);
        await removeFlavor();
        await leave();
      },
    },
  'a machine alone, a volume alone or a network alone keeps the account of its namespace, and lets it go': {
    provesPermissions: { alsoBy: ['audit'] },
    async run(world) {
      const { kube, namespace } = world;
      const { login, leave } = await aMember(world);
      const ref = { namespace, name: credentialsName };
      await kube.create(Secret, secretOf(world, cloudsYaml(login)));
      const isKept = (secret?: Secret) => secret?.metadata.finalizers?.includes(credentialsFinalizer) ?? false;
      const untilLetGo = () =>
        until({ kube }, Secret, ref, (secret) => secret !== undefined && !isKept(secret), 60_000);
      await createMachine(world, 'vm', { diskAttachments: [{ name: 'none' }] });
      await untilMachine(world, 'vm', isWaitingFor('VolumeMissing'));
      await kube.delete(KupenStackMachine, { namespace, name: 'vm' });
      await untilLetGo();
      await createVolume(world, 'disk');
      await untilSo(world, Volume, 'disk', ({ status }) => status?.id !== undefined);
      await kube.delete(Volume, { namespace, name: 'disk' });
      await untilLetGo();
      await createNetwork(world, 'net');
      await untilSo(world, VirtualNetwork, 'net', isPhase('Available'));
      await kube.delete(VirtualNetwork, { namespace, name: 'net' });
      await untilLetGo();
      await kube.delete(Secret, ref);
      await leave();
    },
  },
  async 'credentials that are missing, or wrong, are reported without a word of them, and heal when they are repaired'(
    world,
  ) {
    const { kube, namespace } = world;
    const { login, leave } = await aMember(world);
    const ref = { namespace, name: credentialsName };
    const mend = (text: string) => kube.patch(Secret, ref, { data: secretOf(world, text).data });
    await kube.create(Secret, secretOf(world, `password: ${login.password}\n`));
    await createNetwork(world, 'net');
    const said = async (reason: string) =>
      (await untilSo(world, VirtualNetwork, 'net', isWaitingFor(reason))).status?.message;
    expect(await said('CredentialsInvalid')).toContain('clouds');
    await mend(cloudsYaml(login).replace(/ +password:.*\n/, ''));
    await untilSo(
      world,
      VirtualNetwork,
      'net',
      ({ status }) => status?.message?.includes('auth: expected password') ?? false,
    );
    await mend(cloudsYaml({ ...login, password: `${login.password}-wrong` }));
    expect(await said('CredentialsRefused')).toContain('expected a login that it knows');
    await expectUnsaid(world, login.password);
    await mend(cloudsYaml(login));
    await untilSo(world, VirtualNetwork, 'net', isPhase('Available'));
    await remove(world, VirtualNetwork, 'net');
    await leave();
  },
  async 'an application credential will do as well as a password'(world) {
    const { kube, namespace } = world;
    const { login, session, leave } = await aMember(world);
    const { user } = await session.login();
    const path = `/users/${user.id}/application_credentials`;
    const body = { application_credential: { name: 'of the story' } };
    const answer = await byHand(session, 'identity', 'POST', path, body);
    const credential = z
      .looseObject({ application_credential: z.looseObject({ id: z.string(), secret: z.string() }) })
      .parse(answer).application_credential;
    const text = cloudsYaml(login)
      .replace(/ +(username|password|project_name|user_domain_id|project_domain_id):.*\n/g, '')
      .replace(
        /( +)(auth_url:.*\n)/,
        `$1$2$1application_credential_id: ${credential.id}\n$1application_credential_secret: ${credential.secret}\n`,
      );
    await kube.create(Secret, secretOf(world, text));
    await createNetwork(world, 'net');
    await untilSo(world, VirtualNetwork, 'net', isPhase('Available'));
    await createNetwork(world, 'second');
    await untilSo(world, VirtualNetwork, 'second', isPhase('Available'));
    await expectUnsaid(world, credential.secret);
    for (const name of ['net', 'second']) {
      await remove(world, VirtualNetwork, name);
    }
    await kube.delete(Secret, { namespace, name: credentialsName });
    // Keystone on SQLite leaves its roles behind when its user goes (keystone 22), and the next credential would be a second one.
    await byHand(session, 'identity', 'DELETE', `${path}/${credential.id}`);
    await leave();
  },
  'a namespace that is deleted with its own account in it: the Secret goes last, and nothing is left in the project': {
    smoke: true,
    async run(world) {
      const { kube, namespace } = world;
      const { login, session, leave } = await aMember(world);
      await kube.create(Secret, secretOf(world, cloudsYaml(login)));
      const removeFlavor = await flavorByHand(world, 13);
      await createNetwork(world, 'net');
      await createVolume(world, 'disk', { source: { image: world.imageUrl('disk.raw') } });
      await createMachine(world, 'vm', { vcpu: 13, virtualNetworks: ['net'], diskAttachments: [{ name: 'disk' }] });
      await untilMachine(world, 'vm', isReady);
      await kube.delete(Namespace, { name: namespace });
      await until({ kube }, Secret, { namespace, name: credentialsName }, (secret) => secret === undefined, 90_000);
      expect(await kube.list(KupenStackMachine, { namespace })).toEqual([]);
      expect(await kube.list(Volume, { namespace })).toEqual([]);
      expect(await kube.list(VirtualNetwork, { namespace })).toEqual([]);
      expect(await contentOf(session)).toEqual({
        servers: [],
        volumes: [],
        networks: [],
        ports: [],
        images: [],
        keyPairs: [],
      });
      await until({ kube }, Namespace, { name: namespace }, (found) => found === undefined, 90_000);
      await removeFlavor();
      await leave();
    },
  },
  'a namespace with nothing but a network is deleted, and its project goes after it': {
    provesPermissions: { byTimers: true },
    async run(world) {
      await createNetwork(world, 'net');
      await untilSo(world, VirtualNetwork, 'net', isPhase('Available'));
      await expectProjectToGo(world);
    },
  },
  'a namespace that is deleted takes machines, volumes and networks down, and its project goes after it': {
    smoke: true,
    async run(world) {
      await createNetwork(world, 'net');
      await createVolume(world, 'disk', { source: { image: world.imageUrl('disk.raw') } });
      await createMachine(world, 'vm', { virtualNetworks: ['net'], diskAttachments: [{ name: 'disk' }] });
      await untilMachine(world, 'vm', isReady);
      await expectProjectToGo(world);
    },
  },
});
