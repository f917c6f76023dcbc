import { afterAll, describe, expect, test } from 'vitest';
import {
  type Account,
  aCredentialsSecret,
  cloudsYamlOf,
  type SecretOptions,
} from '../../../test/support/builders/openstack.ts';
import {
  administratorOf,
  anAccount,
  byHand,
  sessionOf,
  steppedOpenStack,
} from '../../../test/support/harness/openstack-harness.ts';
import { Namespace } from '../../kinds/core/namespace.ts';
import type { Secret } from '../../kinds/core/secret.ts';
import { listNetworks } from '../../kinds/openstack/network.ts';
import { assignRole, createProject, listProjects, listRoles, Project } from '../../kinds/openstack/project.ts';
import { uidTag } from '../../kinds/openstack/request.ts';
import type { CloudFault } from '../../openstack/status.ts';
import { operatorNamespace } from '../../operator.ts';
import type { Kube } from '../kube.ts';
import { telemetryOf } from '../telemetry/telemetry.ts';
import { type Cloud, isFault, openStackClients } from './clouds.ts';

const { clock, openStack } = await steppedOpenStack();
afterAll(openStack.close);
const admin = administratorOf(openStack);
const administrator = sessionOf(admin, clock.now);
const member = await anAccount(openStack, clock.now, 'team');

/** Clients of OpenStack with these Secrets and namespaces; namespaces have uids of this test only. */
function clientsOf(secrets: Secret[], namespaces: string[] = [], through: typeof fetch = fetch) {
  const story = crypto.randomUUID();
  const uidOf = (name: string) => `${story.slice(0, 13)}-${name}`;
  const get = async (resource: { kind: string }, { namespace, name }: { namespace?: string; name: string }) => {
    if (resource.kind === 'Secret') return secrets.find(({ metadata }) => metadata.namespace === namespace);
    return namespaces.includes(name) ? Namespace.parse({ metadata: { name, uid: uidOf(name) } }) : undefined;
  };
  const ports = { kube: { get } as unknown as Kube, telemetry: telemetryOf('test'), fetch: through, now: clock.now };
  return { clients: openStackClients(ports), ports, uidOf };
}

const anyUrl = () => true;
const of = (account: Account, options: SecretOptions = {}) => aCredentialsSecret(cloudsYamlOf(account), options);
const shared = (account: Account) => of(account, { namespace: operatorNamespace, finalizers: [] });

const projectsOf = (uid: string) => administrator.list(listProjects(uidTag(uid)), 'projects', Project);
const networksOf = (cloud: Cloud) => cloud.send(listNetworks(cloud.project));
/** The OpenStack, or the reason of the fault. */
const wordOf = (found: Cloud | CloudFault) => (isFault(found) ? found.reason : 'reached');

describe("a namespace's own Secret", () => {
  test('leads to the project of that account', async () => {
    const { clients } = clientsOf([of(member), shared(admin)], ['lab']);
    const cloud = (await clients.open(anyUrl).of('lab')) as Cloud;
    const { project, user } = await sessionOf(member, clock.now).login();
    expect(cloud).toMatchObject({ project: project.id, account: user.id });
    expect(await networksOf(cloud)).toEqual({ networks: [] });
  });
  test.each<[string, Secret, string]>([
    ['with a wrong password is refused', of({ ...member, password: 'wrong' }), 'CredentialsRefused'],
    ['with a foreign project is refused', of({ ...member, projectName: 'admin' }), 'CredentialsRefused'],
    ['that is not guarded is not used yet', of(member, { finalizers: [] }), 'CredentialsUnguarded'],
    ['with nothing in it cannot be used', { ...of(member), data: {} }, 'CredentialsInvalid'],
    ['with something else in it cannot be used', aCredentialsSecret('hunter2'), 'CredentialsInvalid'],
    [
      'at an address without a server is out of reach',
      of({ ...member, authUrl: 'http://127.0.0.1:1/v3' }),
      'Unreachable',
    ],
    ['at an invalid address is out of reach', of({ ...member, authUrl: 'http://:::/v3' }), 'Unreachable'],
  ])('%s', async (_, secret, word) => {
    const found = await clientsOf([secret, shared(admin)], ['lab'])
      .clients.open(anyUrl)
      .of('lab');
    expect(wordOf(found)).toBe(word);
    expect(JSON.stringify(found)).not.toMatch(/password-of|wrong|hunter2/);
  });
  test('that is not guarded is used to clean up', async () => {
    const { clients } = clientsOf([of(member, { finalizers: [] })]);
    expect(wordOf(await clients.open(anyUrl).of('lab', true))).toBe('reached');
  });
  test('that is missing is reported, with the place where it is expected', async () => {
    const found = await clientsOf([], ['lab']).clients.open(anyUrl).of('lab');
    expect(found).toMatchObject({ reason: 'CredentialsMissing', message: expect.stringContaining(operatorNamespace) });
  });
  test('at an address that the policy does not allow is not asked', async () => {
    const asked: string[] = [];
    const noted = ((url: string, init: RequestInit) => {
      asked.push(url);
      return fetch(url, init);
    }) as typeof fetch;
    const { clients } = clientsOf([of(member)], [], noted);
    const found = await clients.open((url) => url.startsWith('https://')).of('lab');
    expect(found).toMatchObject({
      reason: 'EndpointNotAllowed',
      message: expect.stringContaining(`add the line "${new URL(openStack.authUrl).origin}/**"`),
    });
    expect(asked).toEqual([]);
  });
  test('at an invalid address that the policy does not allow does not affect others', async () => {
    const { clients } = clientsOf([of({ ...member, authUrl: 'http://:::/v3' })]);
    expect(wordOf(await clients.open(() => false).of('lab'))).toBe('EndpointNotAllowed');
  });
  test('at a server that is not Keystone does not affect others', async () => {
    const asKeystone = (async () =>
      Response.json({ hello: 1 }, { status: 201, headers: { 'x-subject-token': 'x' } })) as unknown as typeof fetch;
    expect(
      wordOf(
        await clientsOf([of(member)], [], asKeystone)
          .clients.open(anyUrl)
          .of('lab'),
      ),
    ).toBe('Unreachable');
  });
  test('that Keystone quotes in its refusal is in no message', async () => {
    const quoting = (async (_: string, { body }: RequestInit) =>
      Response.json({ error: { message: `Invalid: ${body}` } }, { status: 400 })) as unknown as typeof fetch;
    const found = await clientsOf([of(member)], [], quoting)
      .clients.open(anyUrl)
      .of('lab');
    expect(JSON.stringify(found)).not.toContain('password-of');
  });
});

describe('tokens', () => {
  /** Clients, and the number of logins. */
  function counting(secrets: Secret[], namespaces: string[] = []) {
    let logins = 0;
    const counted = ((url: string, init: RequestInit) => {
      if (url.endsWith('/auth/tokens')) logins++;
      return fetch(url, init);
    }) as typeof fetch;
    return { ...clientsOf(secrets, namespaces, counted), logins: () => logins };
  }
  test('outlive a reconcile', async () => {
    const { clients, logins } = counting([of(member)]);
    for (let reconcile = 0; reconcile < 3; reconcile++) await clients.open(anyUrl).of('lab');
    expect(logins()).toBe(1);
  });
  test('are those of the credentials as they stand', async () => {
    const secrets = [of(member)];
    const { clients, logins } = counting(secrets);
    await clients.open(anyUrl).of('lab');
    secrets[0] = of({ ...member, password: 'wrong' });
    expect(wordOf(await clients.open(anyUrl).of('lab'))).toBe('CredentialsRefused');
    expect(logins()).toBe(2);
  });
  test('are not those of another namespace with the same credentials', async () => {
    const { clients, logins } = counting([of(member), of(member, { namespace: 'other' })]);
    const clouds = clients.open(anyUrl);
    await Promise.all([clouds.of('lab'), clouds.of('other'), clouds.of('lab')]);
    expect(logins()).toBe(2);
  });
  test('are used no more where the policy has changed meanwhile', async () => {
    const { clients } = clientsOf([of(member)]);
    const cloud = (await clients.open(anyUrl).of('lab')) as Cloud;
    await clients.open(() => false).of('lab');
    await expect(networksOf(cloud)).rejects.toThrow('openstackEndpoints');
  });
});

describe("the operator's Secret", () => {
  test('leads to a project for the namespace, made once, by its uid', async () => {
    const { clients, uidOf } = clientsOf([shared(admin)], ['lab']);
    const first = (await clients.open(anyUrl).of('lab')) as Cloud;
    const second = (await clients.open(anyUrl).of('lab')) as Cloud;
    expect(second.project).toBe(first.project);
    expect(await projectsOf(uidOf('lab'))).toMatchObject([
      { id: first.project, description: 'kubernetes-namespace=lab', tags: expect.arrayContaining(['kupenstack']) },
    ]);
    expect(await networksOf(first)).toEqual({ networks: [] });
  });
  test('leads to another project for another namespace', async () => {
    const { clients } = clientsOf([shared(admin)], ['lab', 'other']);
    const clouds = clients.open(anyUrl);
    const [lab, other] = (await Promise.all([clouds.of('lab'), clouds.of('other')])) as [Cloud, Cloud];
    expect(lab.project).not.toBe(other.project);
    expect(lab.account).toBe(other.account);
  });
  test('is read without its finalizer, and leads to its own project where that is asked for', async () => {
    const { clients } = clientsOf([shared(admin)]);
    const { project } = await administrator.login();
    expect(await clients.open(anyUrl).shared()).toMatchObject({ project: project.id });
    expect(await clientsOf([]).clients.open(anyUrl).shared()).toBeUndefined();
  });
  describe('if the creation was interrupted before all roles were assigned', () => {
    /** Clients of a project in which the administrator has only the reader role. */
    async function halfGiven(through?: typeof fetch) {
      const { clients, uidOf } = clientsOf([shared(admin)], ['lab'], through);
      const { project, user, roles } = await administrator.login();
      const created = createProject({ name: 'lab', uid: uidOf('lab') }, { domain: project.domain, installation: '' });
      const { id } = Project.parse(((await administrator.send(created)) as { project: unknown }).project);
      const reader = roles.find(({ name }) => name === 'reader')?.id ?? '';
      await administrator.send(assignRole(id, user.id, reader));
      return clients;
    }
    test('the others are given, and used at once', async () => {
      const clients = await halfGiven();
      const cloud = (await clients.open(anyUrl).of('lab')) as Cloud;
      expect(await cloud.send(listRoles('admin'))).toMatchObject({ roles: [{ name: 'admin' }] });
    });
    test('and no one may assign them, the existing ones are used, and requested once', async () => {
      let refused = 0;
      const refusing = (async (url: string, init: RequestInit) => {
        if (init.method !== 'PUT') return fetch(url, init);
        refused++;
        return Response.json({ error: { message: 'You are not authorized', code: 403 } }, { status: 403 });
      }) as typeof fetch;
      const clients = await halfGiven(refusing);
      const cloud = (await clients.open(anyUrl).of('lab')) as Cloud;
      expect(await networksOf(cloud)).toEqual({ networks: [] });
      await clients.open(anyUrl).of('lab');
      expect(refused).toBe(1);
    });
  });
  test('makes no project for what is leaving', async () => {
    const { clients, uidOf } = clientsOf([shared(admin)], ['lab']);
    expect(wordOf(await clients.open(anyUrl).of('lab', true))).toBe('ProjectMissing');
    expect(await projectsOf(uidOf('lab'))).toEqual([]);
  });
  test('makes none for a namespace that is gone', async () => {
    const found = await clientsOf([shared(admin)])
      .clients.open(anyUrl)
      .of('lab');
    expect(found).toEqual({ reason: 'ProjectMissing', message: 'namespace lab is gone' });
  });
  test('of a user who may create none reports it', async () => {
    const found = await clientsOf([shared(member)], ['lab'])
      .clients.open(anyUrl)
      .of('lab');
    expect(isFault(found)).toBe(true);
    expect(wordOf(found)).toMatch(/^(CredentialsRefused|ProjectRefused)$/);
  });
  test('with an application credential, which is bound to one project, is refused', async () => {
    const { user } = await administrator.login();
    const path = `/users/${user.id}/application_credentials`;
    const body = { application_credential: { name: 'shared' } };
    const { application_credential: made } = (await administrator.send(byHand('identity', 'POST', path, body))) as {
      application_credential: { id: string; secret: string };
    };
    const yaml = `clouds: {openstack: {auth: {auth_url: "${openStack.authUrl}", application_credential_id: ${made.id}, application_credential_secret: ${made.secret}}}}`;
    const credential = aCredentialsSecret(yaml, { namespace: operatorNamespace });
    const { clients } = clientsOf([credential], ['lab']);
    const found = await clients.open(anyUrl).of('lab');
    expect(found).toMatchObject({
      reason: 'CredentialsInvalid',
      message: expect.stringContaining('Secret of the namespace'),
    });
    expect(JSON.stringify(found)).not.toContain(made.secret);
    expect(
      await clientsOf([aCredentialsSecret(yaml)])
        .clients.open(anyUrl)
        .of('lab'),
    ).toMatchObject({ account: user.id });
  });
  test('is not used if the namespace has its own', async () => {
    const { clients, uidOf } = clientsOf([of(member), shared(admin)], ['lab']);
    await clients.open(anyUrl).of('lab');
    expect(await projectsOf(uidOf('lab'))).toEqual([]);
  });
});

describe('a project', () => {
  /** A client of OpenStack that fails right after its first request of that kind. */
  const endingAfter = (method: string, part: string) => {
    let isOver = false;
    return (async (url: string, init: RequestInit) => {
      if (isOver) throw new Error('the process has ended');
      const answer = await fetch(url, init);
      isOver = init.method === method && url.includes(part);
      return answer;
    }) as typeof fetch;
  };
  test('that a crash left without a role gets it with the next look', async () => {
    const { clients, ports, uidOf } = clientsOf([shared(admin)], ['lab'], endingAfter('POST', '/projects'));
    expect(wordOf(await clients.open(anyUrl).of('lab'))).toBe('Unreachable');
    const [made] = await projectsOf(uidOf('lab'));
    const next = await openStackClients({ ...ports, fetch })
      .open(anyUrl)
      .of('lab');
    expect(next).toMatchObject({ project: made?.id });
    expect(await projectsOf(uidOf('lab'))).toHaveLength(1);
  });
  test('that a crash left without a role is no trouble to what is leaving', async () => {
    const { clients, ports } = clientsOf([shared(admin)], ['lab'], endingAfter('POST', '/projects'));
    await clients.open(anyUrl).of('lab');
    expect(
      wordOf(
        await openStackClients({ ...ports, fetch })
          .open(anyUrl)
          .of('lab', true),
      ),
    ).toBe('reached');
  });
  test('is made once also by two at once, and the next look of both finds it', async () => {
    const { clients, ports, uidOf } = clientsOf([shared(admin)], ['lab']);
    const another = openStackClients(ports);
    await Promise.all([clients.open(anyUrl).of('lab'), another.open(anyUrl).of('lab')]);
    const [one, two] = [await clients.open(anyUrl).of('lab'), await another.open(anyUrl).of('lab')];
    expect([wordOf(one), wordOf(two)]).toEqual(['reached', 'reached']);
    expect(await projectsOf(uidOf('lab'))).toHaveLength(1);
  });
  test('that another has made in the same moment is as good as one of our own', async () => {
    const { ports } = clientsOf([shared(admin)], ['lab']);
    const another = openStackClients(ports).open(anyUrl);
    // The other client creates it between the read and the request.
    const late = (async (url: string, init: RequestInit) => {
      if (init.method === 'POST' && url.endsWith('/projects')) await another.of('lab');
      return fetch(url, init);
    }) as typeof fetch;
    const found = await openStackClients({ ...ports, fetch: late })
      .open(anyUrl)
      .of('lab');
    expect(found).toMatchObject({ project: ((await another.of('lab')) as Cloud).project });
  });
  test('of which there are two is not guessed', async () => {
    const { clients, uidOf } = clientsOf([shared(admin)], ['lab']);
    const tags = ['kupenstack', `kupenstack:uid=${uidOf('lab')}`];
    for (const name of ['one', 'two'])
      await administrator.send(
        byHand('identity', 'POST', '/projects', { project: { name: `${name}-${uidOf('lab')}`, tags } }),
      );
    expect(wordOf(await clients.open(anyUrl).of('lab'))).toBe('ProjectRefused');
  });
  test('that Keystone refuses to create is reported in its words', async () => {
    openStack.failNext('createProject', 403);
    const found = await clientsOf([shared(admin)], ['lab'])
      .clients.open(anyUrl)
      .of('lab');
    expect(found).toMatchObject({ reason: 'ProjectRefused', message: expect.stringContaining('Forbidden') });
  });
});
