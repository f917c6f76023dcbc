import { type Cases, only, type Step } from './contract-step.ts';

const userPassword = { user: { id: '{user}', password: 'password-{run}' } };
const login = (identity: unknown, scope?: unknown): Step => ({
  ask: 'POST identity /auth/tokens',
  as: 'nobody',
  body: { auth: { identity, ...(scope !== undefined && { scope }) } },
  pick: only(
    'error',
    'token.methods',
    'token.project',
    'token.roles',
    'token.user',
    'token.is_domain',
    'token.application_credential',
  ),
  shows: ['www-authenticate'],
});
const byPassword = (password: unknown = userPassword) => ({ methods: ['password'], password });
const inProject = { project: { id: '{project}' } };
const used = (service: string, path: string): Step => ({
  ask: `GET ${service} ${path}`,
  as: '{token}',
  pick: only('error'),
});

export const identityCases: Cases = {
  'a password gives a token for a project, and a catalogue': [
    { ...login(byPassword(), inProject), shows: ['vary'] },
    login(byPassword({ user: { name: 'user-{run}', domain: { id: 'default' }, password: 'password-{run}' } }), {
      project: { name: 'contract-{run}', domain: { id: 'default' } },
    }),
    {
      ...login(byPassword(), inProject),
      pick: (body: {
        token: {
          catalog: {
            type: string;
            name: string;
            endpoints: { interface: string; region: string; region_id: string; url: string }[];
          }[];
        };
      }) =>
        body.token.catalog
          .filter(({ type }) => type !== 'placement')
          .sort((a, b) => (a.type < b.type ? -1 : 1))
          .map(({ type, name, endpoints }) => [
            type,
            name,
            ...endpoints
              .map(
                (each) =>
                  `${each.interface} ${each.region} ${each.region_id} ${each.url.replace(/^.*?(\/v[\d.]+(?:\/.*)?)?$/, '$1')}`,
              )
              .sort(),
          ]),
    },
    login(byPassword()),
  ],
  'who is not whom he says, or has no role there, is told the same': [
    login(byPassword({ user: { id: '{user}', password: 'wrong' } }), inProject),
    login(byPassword({ user: { name: 'nobody-{run}', domain: { id: 'default' }, password: 'x' } }), inProject),
    login(byPassword(), { project: { id: '{adminProject}' } }),
    login(byPassword(), { project: { name: 'none-{run}', domain: { id: 'default' } } }),
    {
      ...login(undefined),
      body: { auth: {} },
      pick: (body: { error: { code: number; title: string } }) => [body.error.code, body.error.title],
    },
  ],
  'a token is shown to who has it, and a revoked one is refused everywhere': [
    { ...login(byPassword(), inProject), save: { token: 'header:x-subject-token' } },
    {
      ask: 'GET identity /auth/tokens',
      as: '{token}',
      headers: { 'x-subject-token': '{token}' },
      pick: only('token.project', 'token.user', 'token.methods'),
    },
    { ask: 'HEAD identity /auth/tokens', as: '{token}', headers: { 'x-subject-token': '{token}' } },
    { ask: 'GET identity /auth/tokens', headers: { 'x-subject-token': 'none' } },
    used('compute', '/servers'),
    { ask: 'DELETE identity /auth/tokens', as: '{token}', headers: { 'x-subject-token': '{token}' } },
    used('compute', '/servers'),
    used('volume', '/volumes'),
    used('network', '/v2.0/networks'),
    used('image', '/v2/images'),
    { ...used('identity', '/auth/projects'), shows: ['www-authenticate'] },
    { ask: 'GET identity /auth/tokens', headers: { 'x-subject-token': '{token}' } },
  ],
  'without a token nobody answers': [
    { ask: 'GET compute /servers', as: 'nobody', pick: only('error') },
    { ask: 'GET volume /volumes', as: 'nobody', pick: only('error') },
    { ask: 'GET network /v2.0/networks', as: 'nobody', pick: only('error') },
    { ask: 'GET image /v2/images', as: 'nobody', pick: only('error') },
    { ask: 'GET identity /projects', as: 'nobody' },
  ],
  'an application credential logs in without a scope, until it is deleted': [
    {
      ask: 'POST identity /users/{user}/application_credentials',
      as: '{memberToken}',
      body: { application_credential: { name: 'c-{run}' } },
      save: { credential: 'application_credential.id', secret: 'application_credential.secret' },
      pick: only(
        'application_credential.name',
        'application_credential.project_id',
        'application_credential.unrestricted',
        'application_credential.expires_at',
        'application_credential.description',
        'application_credential.system',
      ),
    },
    {
      ask: 'POST identity /users/{user}/application_credentials',
      as: '{memberToken}',
      body: { application_credential: { name: 'c-{run}' } },
      pick: only('error.code', 'error.title'),
    },
    {
      ...login({
        methods: ['application_credential'],
        application_credential: { id: '{credential}', secret: '{secret}' },
      }),
      save: { token: 'header:x-subject-token' },
    },
    login({
      methods: ['application_credential'],
      application_credential: { name: 'c-{run}', user: { id: '{user}' }, secret: '{secret}' },
    }),
    login({ methods: ['application_credential'], application_credential: { id: '{credential}', secret: 'wrong' } }),
    login(
      { methods: ['application_credential'], application_credential: { id: '{credential}', secret: '{secret}' } },
      { project: { id: '{adminProject}' } },
    ),
    used('compute', '/servers'),
    {
      ask: 'POST identity /users/{user}/application_credentials',
      as: '{token}',
      body: { application_credential: { name: 'd-{run}' } },
    },
    {
      ask: 'GET identity /users/{user}/application_credentials',
      as: '{memberToken}',
      pick: (body: { application_credentials: { name: string }[] }) =>
        body.application_credentials.map(({ name }) => name),
    },
    { ask: 'DELETE identity /users/{user}/application_credentials/{credential}', as: '{memberToken}' },
    used('compute', '/servers'),
    login({ methods: ['application_credential'], application_credential: { id: '{credential}', secret: '{secret}' } }),
    { ask: 'GET identity /users/{user}/application_credentials/{credential}', as: '{memberToken}' },
  ],
};

const project = (name: string, more = {}): Step => ({
  ask: 'POST identity /projects',
  body: { project: { name, domain_id: 'default', ...more } },
  save: { made: 'project.id' },
});

export const projectCases: Cases = {
  'projects are made with tags, found by them, and one name is there once': [
    project('p-{run}', { description: 'kubernetes-namespace=x', tags: ['a-{run}', 'kupenstack:uid={run}'] }),
    { ...project('p-{run}'), save: {} },
    {
      ask: 'GET identity /projects?tags=a-{run}',
      pick: (body: { projects: { name: string; tags: string[] }[] }) =>
        body.projects.map(({ name, tags }) => [name, ...tags.toSorted()]),
    },
    { ask: 'GET identity /projects?tags=a-{run},b-{run}', pick: only('projects') },
    {
      ask: 'GET identity /projects?name=p-{run}',
      pick: (body: { projects: { name: string }[] }) => body.projects.map(({ name }) => name),
    },
    { ask: 'PUT identity /projects/{made}/tags', body: { tags: ['b-{run}'] }, pick: only('tags') },
    {
      ask: 'GET identity /projects?tags-any=b-{run},c-{run}',
      pick: (body: { projects: { name: string }[] }) => body.projects.map(({ name }) => name),
    },
    { ask: 'GET identity /projects/{made}' },
    { ask: 'DELETE identity /projects/{made}' },
    { ask: 'GET identity /projects/{made}' },
    { ask: 'DELETE identity /projects/{made}' },
    { ...project('q-{run}', { tags: ['with/slash'] }), save: {}, pick: only('error.code', 'error.title') },
  ],
  'a member makes no projects and lists none': [
    { ...project('p-{run}'), as: '{memberToken}', save: {} },
    { ask: 'GET identity /projects', as: '{memberToken}' },
    { ask: 'GET identity /users', as: '{memberToken}' },
    {
      ask: 'GET identity /auth/projects',
      as: '{memberToken}',
      pick: (body: { projects: { name: string }[] }) => body.projects.map(({ name }) => name),
    },
  ],
  'a role in a project may be given twice, and without one nobody gets in': [
    { ...project('r-{run}') },
    login(byPassword(), { project: { id: '{made}' } }),
    { ask: 'PUT identity /projects/{made}/users/{user}/roles/{memberRole}' },
    { ask: 'PUT identity /projects/{made}/users/{user}/roles/{memberRole}' },
    { ask: 'HEAD identity /projects/{made}/users/{user}/roles/{memberRole}' },
    {
      ask: 'GET identity /projects/{made}/users/{user}/roles',
      pick: (body: { roles: { name: string }[] }) => body.roles.map(({ name }) => name),
    },
    { ...login(byPassword(), { project: { id: '{made}' } }), save: { token: 'header:x-subject-token' } },
    { ask: 'GET network /v2.0/networks', as: '{token}', pick: only('networks') },
    { ask: 'PUT identity /projects/{made}/users/{user}/roles/none' },
    { ask: 'PUT identity /projects/{made}/users/none/roles/{memberRole}' },
    { ask: 'PUT identity /projects/none/users/{user}/roles/{memberRole}' },
    { ask: 'DELETE identity /projects/{made}/users/{user}/roles/{memberRole}' },
    used('network', '/v2.0/networks'),
    login(byPassword(), { project: { id: '{made}' } }),
    { ask: 'DELETE identity /projects/{made}' },
  ],
  'a project goes with what is in it still there, and its tokens with it': [
    { ...project('s-{run}') },
    { ask: 'PUT identity /projects/{made}/users/{user}/roles/{memberRole}' },
    {
      ...login(byPassword(), { project: { id: '{made}' } }),
      save: { token: 'header:x-subject-token' },
      pick: only('error'),
    },
    {
      ask: 'POST network /v2.0/networks',
      as: '{token}',
      body: { network: { name: 'n' } },
      save: { network: 'network.id' },
      pick: only('network.name'),
    },
    { ask: 'DELETE identity /projects/{made}' },
    used('network', '/v2.0/networks'),
    { ask: 'GET network /v2.0/networks/{network}', as: 'admin', pick: only('network.name', 'network.status') },
    { ask: 'DELETE network /v2.0/networks/{network}', as: 'admin' },
  ],
};
