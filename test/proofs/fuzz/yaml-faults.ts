import { spawnSync } from 'node:child_process';
import { parse } from 'yaml';
import type { Write } from './cluster.ts';

/** Strings and keys that authors wrote, as UTF-8 has them. */
export class Texts {
  readonly #all = new Set<string>();

  add(value: unknown): void {
    if (typeof value === 'string') this.#all.add(value.toWellFormed());
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      this.#all.add(key.toWellFormed());
      this.add(inner);
    }
  }

  has = (text: string) => this.#all.has(text);
}

type Form = ((value: unknown, texts: Texts) => boolean) | { [field: string]: Form } | [Form];

const isText = (value: unknown, { has }: Texts) => typeof value === 'string' && has(value);
const isBoolean = (value: unknown) => typeof value === 'boolean';
const like = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);
/** Of a Secret of the author's own, or the author's. */
const isPassword = (value: unknown, texts: Texts) => value === 'own' || isText(value, texts);

const user = {
  name: like(/^[a-z_][a-z0-9_-]{0,31}$/),
  gecos: isText,
  plain_text_passwd: isPassword,
  hashed_passwd: isText,
  lock_passwd: isBoolean,
  sudo: isText,
  groups: isText,
  shell: isText,
  ssh_authorized_keys: [isText] as [Form],
};
/** The login that Ansible has on a lab's machines: made for it, or an author's with its key added. */
const ansible = 'ansible';
const labLogin: Form = {
  ...user,
  gecos: (value, texts) => value === ansible || isText(value, texts),
  sudo: (value, texts) => value === 'ALL=(ALL) NOPASSWD:ALL' || isText(value, texts),
  ssh_authorized_keys: [(value, texts) => like(/^ssh-ed25519 [A-Za-z0-9+/]{68}$/)(value) || isText(value, texts)],
};
const isLogin: Form = (value, texts) =>
  value === 'default' || fits(value, (value as { name?: unknown } | null)?.name === ansible ? labLogin : user, texts);
const userData: Form = {
  hostname: like(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/),
  preserve_hostname: isBoolean,
  ssh_pwauth: isBoolean,
  ssh_keys: {
    ed25519_private: like(/^-----BEGIN OPENSSH PRIVATE KEY-----\n[\w+/=\n]+-----END OPENSSH PRIVATE KEY-----\n?$/),
  },
  users: [isLogin],
};
const ethernet: Form = {
  match: { macaddress: like(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/) },
  'set-name': like(/^[a-z0-9-]{1,15}$/),
  dhcp4: isBoolean,
  addresses: [isText],
  routes: [
    {
      to: (value, texts) => value === '0.0.0.0/0' || value === '::/0' || isText(value, texts),
      via: isText,
      metric: Number.isSafeInteger,
    },
  ],
  nameservers: { addresses: [isText] },
};
const networkData: Form = {
  version: (value) => value === 2,
  ethernets: (value, texts) => Object.values(value as object).every((one) => fits(one, ethernet, texts)),
};

/** Whatever an author says in a free-form field. */
function isAuthors(value: unknown, texts: Texts): boolean {
  if (typeof value === 'string') return texts.has(value);
  if (Array.isArray(value)) return value.every((one) => isAuthors(one, texts));
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => texts.has(key) && isAuthors(inner, texts));
}

const machineNames: Form = (value, texts) => Object.keys(value as object).every(texts.has);
const hosts: Form = {
  all: {
    vars: (value) => Object.keys(value as object).every((key) => key.startsWith('ansible_')),
    hosts: machineNames,
    children: (value, texts) =>
      Object.entries(value as object).every(
        ([group, one]) => /^role_\w+$/.test(group) && fits(one, { hosts: machineNames }, texts),
      ),
  },
};
const site: Form = [
  {
    name: like(/^Deploy the roles of [a-z0-9.-]+$/),
    hosts: isText,
    gather_facts: isBoolean,
    pre_tasks: [
      {
        name: like(/^[\w ]+$/),
        'ansible.builtin.wait_for_connection': { timeout: Number.isSafeInteger },
        'ansible.builtin.setup': {},
      },
    ],
    roles: [{ role: isText, vars: isAuthors }],
  },
];
const extraVars: Form = { workspace: isText, vm: isText, version: isText };

function fits(value: unknown, form: Form, texts: Texts): boolean {
  if (typeof form === 'function') return form(value, texts);
  if (Array.isArray(form)) return Array.isArray(value) && value.every((one) => fits(one, form[0], texts));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([key, inner]) => {
    const expected = Object.hasOwn(form, key) ? form[key] : undefined;
    return expected !== undefined && fits(inner, expected, texts);
  });
}

/** The form of a file that functions write, by where it is. */
function formOf({ resource }: Write, key: string): Form | undefined {
  if (resource === 'secrets') return { userdata: userData, networkdata: networkData }[key];
  if (resource !== 'configmaps') return undefined;
  if (key.startsWith('host_vars.')) return isAuthors;
  return { 'hosts.yml': hosts, 'site.yml': site, extravars: extraVars }[key];
}

interface File {
  where: string;
  text: string;
  form: Form;
}

function filesIn(write: Write): File[] {
  const { data = {} } = (write.object ?? {}) as { data?: Record<string, string> };
  return Object.entries(data).flatMap(([key, value]) => {
    const form = formOf(write, key);
    const text = write.resource === 'secrets' ? Buffer.from(value, 'base64').toString() : value;
    return form
      ? [{ where: `${write.by}: ${key} of ${write.resource} ${write.namespace}/${write.name}`, text, form }]
      : [];
  });
}

/** cloud-init and Ansible read with PyYAML; Ansible tries JSON first. */
const reader = `
import json, sys
try:
  import yaml
except ImportError:
  sys.exit(3)
def read(text):
  try:
    return {"value": json.loads(text)}
  except ValueError:
    pass
  try:
    return {"value": yaml.safe_load(text)}
  except Exception as error:
    return {"error": str(error)}
json.dump([read(text) for text in json.load(sys.stdin)], sys.stdout, default=str)
`;

type Read = { value: unknown } | { error: string };

/** As PyYAML reads them; undefined where it is not installed. */
function readByPython(texts: readonly string[]): Read[] | undefined {
  const { status, stdout } = spawnSync('python3', ['-c', reader], {
    input: JSON.stringify(texts),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return status === 0 ? JSON.parse(stdout) : undefined;
}

function readHere(text: string): Read {
  try {
    return { value: JSON.parse(text) };
  } catch {
    // It is YAML.
  }
  try {
    return { value: parse(text, { version: '1.1' }) };
  } catch (error) {
    return { error: String(error) };
  }
}

/** Files that functions wrote which mean something else than what authors said, or cannot be read. */
export function yamlFaults(writes: readonly Write[], texts: Texts): string[] {
  const files = writes.filter(({ isFunction, operation }) => isFunction && operation !== 'DELETE').flatMap(filesIn);
  if (files.length === 0) return [];
  const read = readByPython(files.map(({ text }) => text)) ?? files.map(({ text }) => readHere(text));
  return files.flatMap(({ where, text, form }, index) => {
    const found = read[index] ?? { error: 'nothing was read' };
    if ('error' in found) return [`${where} cannot be read: ${found.error}: ${JSON.stringify(text)}`];
    return fits(found.value, form, texts) ? [] : [`${where} says what no one wrote: ${JSON.stringify(text)}`];
  });
}
