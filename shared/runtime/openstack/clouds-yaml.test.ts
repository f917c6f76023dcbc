import { afterEach, describe, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { readCloudsYaml } from './clouds-yaml.ts';

const auth = { auth_url: 'https://keystone.example/v3', username: 'ops', password: 'hunter2', project_name: 'lab' };
const file = (of: object, more: object = {}) => stringify({ clouds: { openstack: { auth: of, ...more } } });
const userOf = (user: object) => ({ methods: ['password'], password: { user: { ...user, password: 'hunter2' } } });
const credential = { auth_url: auth.auth_url, application_credential_secret: 's3cret' };
const byDefault = { id: 'default' };

afterEach(() => vi.restoreAllMocks());

describe('a clouds.yaml', () => {
  const { username: _, ...noName } = auth;
  const { project_name: __, ...noProject } = auth;
  test.each<[string, object, object]>([
    [
      'a password',
      auth,
      {
        identity: userOf({ name: 'ops', domain: byDefault }),
        scope: { project: { name: 'lab', domain: byDefault } },
        isScopable: true,
      },
    ],
    ['the id of a user', { ...noName, user_id: 'id-ops' }, { identity: userOf({ id: 'id-ops' }) }],
    ['the id of a project', { ...noProject, project_id: 'id-lab' }, { scope: { project: { id: 'id-lab' } } }],
    [
      'domains by name',
      { ...auth, user_domain_name: 'A', project_domain_name: 'B' },
      {
        identity: userOf({ name: 'ops', domain: { name: 'A' } }),
        scope: { project: { name: 'lab', domain: { name: 'B' } } },
      },
    ],
    [
      'domains by id, which counts before a name',
      { ...auth, user_domain_id: 'a', user_domain_name: 'A', project_domain_id: 'b' },
      {
        identity: userOf({ name: 'ops', domain: { id: 'a' } }),
        scope: { project: { name: 'lab', domain: { id: 'b' } } },
      },
    ],
    [
      'one domain for both',
      { ...auth, domain_id: 'd' },
      {
        identity: userOf({ name: 'ops', domain: { id: 'd' } }),
        scope: { project: { name: 'lab', domain: { id: 'd' } } },
      },
    ],
    [
      'an application credential by its id',
      { ...credential, application_credential_id: 'id-c' },
      {
        identity: { methods: ['application_credential'], application_credential: { id: 'id-c', secret: 's3cret' } },
        scope: undefined,
        isScopable: false,
      },
    ],
    [
      'one by its name and user',
      { ...credential, application_credential_name: 'c', username: 'ops' },
      {
        identity: {
          methods: ['application_credential'],
          application_credential: { name: 'c', user: { name: 'ops', domain: byDefault }, secret: 's3cret' },
        },
      },
    ],
  ])('with %s is read', (_, of, config) => {
    expect(readCloudsYaml(file(of))).toMatchObject(config);
  });
  test.each([
    ['https://keystone.example/v3', 'https://keystone.example/v3'],
    ['https://keystone.example/v3/', 'https://keystone.example/v3'],
    ['https://cloud.example/identity', 'https://cloud.example/identity/v3'],
    ['http://127.0.0.1:5000//', 'http://127.0.0.1:5000/v3'],
  ])('with the address %s asks at %s', (auth_url, authUrl) => {
    expect(readCloudsYaml(file({ ...auth, auth_url })).authUrl).toBe(authUrl);
  });
  test('says region and interface, or else any region and the public one', () => {
    expect(readCloudsYaml(file(auth))).toMatchObject({ region: undefined, interface: 'public' });
    const more = { region_name: 'one', interface: 'internal', identity_api_version: 3 };
    expect(readCloudsYaml(file(auth, more))).toMatchObject({ region: 'one', interface: 'internal' });
  });
  test('with several clouds is read where one is called openstack, or there is one alone', () => {
    const other = { auth: { ...auth, username: 'other' } };
    const name = { name: 'ops' };
    const both = stringify({ clouds: { other, openstack: { auth } } });
    expect(readCloudsYaml(both).identity).toMatchObject({ password: { user: name } });
    expect(readCloudsYaml(stringify({ clouds: { mine: { auth } } })).identity).toMatchObject({
      password: { user: name },
    });
  });
});

describe('a clouds.yaml that cannot be used', () => {
  const { password: _, ...noPassword } = auth;
  const { username: __, ...noName } = auth;
  const { project_name: ___, ...noProject } = auth;
  const { auth_url: ____, ...noUrl } = auth;
  test.each<[string, string, string]>([
    ['is no YAML', `clouds: [hunter2\n  password: "hunter2`, 'expected YAML, found none'],
    ['is a text', 'hunter2', 'the file: Invalid input: expected object, received string'],
    ['is empty', '', 'the file: Invalid input: expected object, received null'],
    ['has no clouds', stringify({ cloud: auth }), 'clouds: Invalid input: expected record, received undefined'],
    [
      'has none of them',
      stringify({ clouds: {} }),
      'clouds: expected one cloud, or one called openstack among several, found 0',
    ],
    [
      'has two, neither called openstack',
      stringify({ clouds: { a: { auth }, b: { auth } } }),
      'clouds: expected one cloud, or one called openstack among several, found 2',
    ],
    [
      'has a text for auth',
      stringify({ clouds: { openstack: { auth: 'hunter2' } } }),
      'clouds.openstack.auth: Invalid input: expected object, received string',
    ],
    [
      'has no address',
      file(noUrl),
      'clouds.openstack.auth.auth_url: Invalid input: expected string, received undefined',
    ],
    [
      'has an address of another kind',
      file({ ...auth, auth_url: 'ldap://hunter2' }),
      'clouds.openstack.auth.auth_url: expected an address that begins with https://',
    ],
    [
      'has a number for a password',
      file({ ...auth, password: 4711 }),
      'clouds.openstack.auth.password: Invalid input: expected string, received number',
    ],
    [
      'has an unknown interface',
      file(auth, { interface: 'hunter2' }),
      'clouds.openstack.interface: Invalid option: expected one of "public"|"internal"|"admin"',
    ],
    [
      'has no password',
      file(noPassword),
      'auth: expected password, or application_credential_id and application_credential_secret',
    ],
    ['has no user', file(noName), 'auth: expected username or user_id'],
    ['has no project', file(noProject), 'auth: expected project_name or project_id'],
    [
      'has a credential without its secret',
      file({ ...auth, application_credential_id: 'hunter2' }),
      'auth: expected application_credential_secret beside the credential',
    ],
    [
      'has a credential without id and user',
      file({ ...credential, application_credential_name: 'c' }),
      'auth: expected application_credential_id, or the username beside application_credential_name',
    ],
  ])('because it %s says what was expected, and nothing that is in it', (_, text, message) => {
    const read = () => readCloudsYaml(text);
    expect(read).toThrow(new Error(message));
    expect(read).not.toThrow(/hunter2|s3cret|4711/);
  });
});

describe('the words of the YAML library', () => {
  test('show nothing of a file with a tag that it does not know', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const text = file(auth).replace('hunter2', '!vault hunter2');
    expect(readCloudsYaml(text).identity).toEqual(userOf({ name: 'ops', domain: byDefault }));
    expect(warned.mock.calls.map(([warning]) => String(warning)).join()).not.toContain('hunter2');
  });
});
