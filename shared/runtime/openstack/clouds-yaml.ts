import { parse } from 'yaml';
import * as z from 'zod';

const text = z.string().min(1);

const Auth = z.looseObject({
  auth_url: text.refine((url) => /^https?:\/\//.test(url), 'expected an address that begins with https://'),
  username: text.optional(),
  user_id: text.optional(),
  password: text.optional(),
  user_domain_name: text.optional(),
  user_domain_id: text.optional(),
  domain_name: text.optional(),
  domain_id: text.optional(),
  project_name: text.optional(),
  project_id: text.optional(),
  project_domain_name: text.optional(),
  project_domain_id: text.optional(),
  application_credential_id: text.optional(),
  application_credential_name: text.optional(),
  application_credential_secret: text.optional(),
});

const CloudEntry = z.looseObject({
  auth: Auth,
  region_name: text.optional(),
  interface: z.enum(['public', 'internal', 'admin']).default('public'),
});

const CloudsFile = z.looseObject({ clouds: z.record(z.string(), CloudEntry) });

/** The cloud that is used if a clouds.yaml has several. */
const cloudName = 'openstack';

/** How to reach one OpenStack; all of `identity` is secret. */
export interface CloudConfig {
  /** Keystone's address, ending in /v3. */
  authUrl: string;
  /** The body of `auth.identity` of a login. */
  identity: Readonly<Record<string, unknown>>;
  /** The project in clouds.yaml; absent with an application credential, which has its own. */
  scope: Readonly<Record<string, unknown>> | undefined;
  /** A token for another project can be requested. */
  isScopable: boolean;
  region: string | undefined;
  interface: 'public' | 'internal' | 'admin';
}

/**
 * Reads a clouds.yaml (docs.openstack.org/python-openstackclient, clouds.yaml): a password or an application credential. Throws
 * an Error with what was expected, never with what was found: these are secrets.
 */
export function readCloudsYaml(file: string): CloudConfig {
  const { auth, region_name: region, interface: face } = entryOf(contentOf(file));
  const credential = applicationCredential(auth);
  return {
    authUrl: withVersion(auth.auth_url),
    identity: credential ?? password(auth),
    scope: credential ? undefined : { project: projectOf(auth) },
    isScopable: credential === undefined,
    region,
    interface: face,
  };
}

function contentOf(file: string) {
  let content: unknown;
  try {
    // A warning of the library would quote the file.
    content = parse(file, { logLevel: 'error' });
  } catch {
    throw new Error('expected YAML, found none');
  }
  const read = CloudsFile.safeParse(content);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Error(`${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'expected clouds.<name>.auth'}`);
}

function entryOf({ clouds }: z.infer<typeof CloudsFile>) {
  const names = Object.keys(clouds);
  const entry = clouds[cloudName] ?? (names.length === 1 ? clouds[names[0] ?? ''] : undefined);
  if (entry) return entry;
  throw new Error(`clouds: expected one cloud, or one called ${cloudName} among several, found ${names.length}`);
}

type Credentials = z.infer<typeof Auth>;

function applicationCredential(auth: Credentials) {
  const {
    application_credential_id: id,
    application_credential_name: name,
    application_credential_secret: secret,
  } = auth;
  if (id === undefined && name === undefined) return undefined;
  if (secret === undefined) throw new Error('auth: expected application_credential_secret beside the credential');
  if (id === undefined && auth.username === undefined && auth.user_id === undefined)
    throw new Error('auth: expected application_credential_id, or the username beside application_credential_name');
  const who = id === undefined ? { name, user: userOf(auth) } : { id };
  return { methods: ['application_credential'], application_credential: { ...who, secret } };
}

function password(auth: Credentials) {
  if (auth.password === undefined)
    throw new Error('auth: expected password, or application_credential_id and application_credential_secret');
  return { methods: ['password'], password: { user: { ...userOf(auth), password: auth.password } } };
}

function userOf(auth: Credentials) {
  if (auth.user_id !== undefined) return { id: auth.user_id };
  if (auth.username === undefined) throw new Error('auth: expected username or user_id');
  return { name: auth.username, domain: domainOf(auth, 'user') };
}

function projectOf(auth: Credentials) {
  if (auth.project_id !== undefined) return { id: auth.project_id };
  if (auth.project_name === undefined) throw new Error('auth: expected project_name or project_id');
  return { name: auth.project_name, domain: domainOf(auth, 'project') };
}

function domainOf(auth: Credentials, of: 'user' | 'project') {
  const id = auth[`${of}_domain_id`] ?? auth.domain_id;
  const name = auth[`${of}_domain_name`] ?? auth.domain_name;
  if (id !== undefined) return { id };
  return name === undefined ? { id: 'default' } : { name };
}

const withVersion = (url: string) => {
  const plain = url.replace(/\/+$/, '');
  return /\/v3$/.test(plain) ? plain : `${plain}/v3`;
};
