import { stringify } from 'yaml';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { toMicroTime } from '../../../shared/kubernetes/time.ts';
import { parseCidr } from '../../../shared/machines/ip-address.ts';
import { childMetadata, cloudInitName } from '../children.ts';
import { type Nic, nicsOf } from '../network/networks.ts';
import type { Observed } from '../observed.ts';
import { loginsOf } from './logins.ts';
import { passwordAnnotations, passwordOf, passwordsFrom } from './passwords.ts';

/** When the Secret was rewritten under a machine that had started with another. */
const changedAt = 'pelotech.ot/cloud-init-changed-at';

type Input = Pick<Observed, 'machine' | 'passwords' | 'hostKey'>;

/** The Secret that the machine's first start reads: the one place where passwords are. */
export const secretFor = (input: Input) => ({
  apiVersion: Secret.apiVersion,
  kind: Secret.kind,
  metadata: {
    ...childMetadata(input.machine, cloudInitName(input.machine.metadata.name)),
    annotations: passwordAnnotations(input.machine),
  },
  type: 'Opaque',
  data: dataOf(input),
});

/** The Secret as it should be, where it is not; undefined where it is. */
export function changedSecret(
  input: Input,
  found: Secret,
  { hasStarted, nowMs }: { hasStarted: boolean; nowMs: number },
) {
  const data = dataOf(input);
  const isSame = Object.entries({ ...found.data, ...data }).every(
    ([key, value]) => data[key] === value && found.data?.[key] === value,
  );
  const from = passwordAnnotations(input.machine);
  const { [passwordsFrom]: fromBefore, ...others } = found.metadata.annotations ?? {};
  if (isSame && fromBefore === from[passwordsFrom]) return undefined;
  const annotations = {
    ...others,
    ...from,
    ...(hasStarted && !isSame ? { [changedAt]: toMicroTime(nowMs) } : {}),
  };
  return { ...found, metadata: { ...found.metadata, annotations }, data };
}

/** The disk was booted with another Secret than this one; cloud-init reads it once for each disk. */
export const isOlderThan = (secret: Secret, disk: { metadata: { creationTimestamp: string } }) => {
  const changed = secret.metadata.annotations?.[changedAt];
  return changed !== undefined && Date.parse(disk.metadata.creationTimestamp) <= Date.parse(changed);
};

/** The host name: what RFC 1123 takes of the wanted one. */
export function hostNameOf({ metadata, spec }: VirtualMachine): string {
  const legal = (spec.name ?? metadata.name)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 63)
    .replace(/-+$/, '');
  return legal || metadata.name.replaceAll('.', '-');
}

function dataOf(input: Input): Record<string, string> {
  const nics = nicsOf(input.machine);
  return {
    userdata: base64(`#cloud-config\n${yamlOf(userData(input))}`),
    ...(nics.length > 0 ? { networkdata: base64(yamlOf(networkData(nics))) } : {}),
  };
}

/**
 * All strings quoted: cloud-init reads YAML 1.1, where a password may be `no`, `0123` or `12:30:45`. Characters that YAML 1.1 does
 * not let stand in a file are escaped (§5.1): PyYAML refuses the whole file for one.
 */
const yamlOf = (value: unknown) =>
  stringify(value, {
    version: '1.1',
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
    lineWidth: 0,
  }).replace(/[\x7f-\x9f\ufffe\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

const base64 = (text: string) => Buffer.from(text).toString('base64');

function userData({ machine, passwords, hostKey }: Input) {
  const users = loginsOf(machine).map(({ login, user }) => {
    const { name, gecos, plain_text_passwd, hashed_passwd, passwordSecretRef, ...rest } = user;
    const plain = passwordSecretRef ? passwordOf(passwords, login, passwordSecretRef) : plain_text_passwd;
    const password = {
      ...(plain === undefined ? {} : { plain_text_passwd: plain }),
      ...(hashed_passwd ? { hashed_passwd } : {}),
    };
    const hasPassword = Object.keys(password).length > 0;
    return {
      name: login,
      gecos: gecos ?? name,
      ...password,
      // cloud-init locks every password by default.
      ...(hasPassword ? { lock_passwd: false } : {}),
      ...rest,
    };
  });
  const hasPassword = (machine.spec.users ?? []).some(
    ({ plain_text_passwd, hashed_passwd, passwordSecretRef }) =>
      plain_text_passwd ?? hashed_passwd ?? passwordSecretRef,
  );
  return {
    hostname: hostNameOf(machine),
    preserve_hostname: false,
    ...(hasPassword ? { ssh_pwauth: true } : {}),
    // cloud-init makes no other ones then.
    ...(hostKey === undefined ? {} : { ssh_keys: { ed25519_private: hostKey } }),
    // A list without `default` would take the image's own user away.
    ...(users.length > 0 ? { users: ['default', ...users] } : {}),
  };
}

const networkData = (nics: readonly Nic[]) => ({
  version: 2,
  ethernets: Object.fromEntries(nics.map((nic) => [nic.guestName, ethernet(nic)])),
});

function ethernet({ mac, guestName, spec: { ipAddress, gateway, routes = [], nameservers = [] } }: Nic) {
  const everything = parseCidr(ipAddress ?? '')?.version === 6 ? '::/0' : '0.0.0.0/0';
  const ways = [...(gateway === undefined ? [] : [{ to: everything, via: gateway }]), ...routes];
  return {
    match: { macaddress: mac },
    'set-name': guestName,
    dhcp4: ipAddress === undefined,
    ...(ipAddress === undefined ? {} : { addresses: [ipAddress] }),
    ...(ways.length > 0 ? { routes: ways } : {}),
    ...(nameservers.length > 0 ? { nameservers: { addresses: nameservers } } : {}),
  };
}
