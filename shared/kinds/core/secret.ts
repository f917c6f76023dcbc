import * as z from 'zod';
import { defineResource, type ObjectOf, type ObjectReference } from '../resource.ts';

/** A Secret; what `data` holds is base64, and goes into no message, log or trace. */
export const Secret = defineResource(
  { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', holdsPasswords: true },
  { data: z.record(z.string(), z.string()).optional() },
);
export type Secret = ObjectOf<typeof Secret>;

/** What a Secret has under a key that an author chose, which may be the name of something that each object of JavaScript has. */
export const textIn = ({ data = {} }: Secret, key: string): string | undefined =>
  Object.hasOwn(data, key) ? Buffer.from(data[key] ?? '', 'base64').toString() : undefined;

/** A Secret as an action names it: its data, and what kubectl notes of it, have no business there. */
export const withoutData = ({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }: Secret) => ({
  apiVersion,
  kind,
  metadata: { name, namespace, uid, resourceVersion },
});

/** The key of a Workspace with roles, in its namespace. */
export const ansibleCredentials = 'ansible-credentials';
/** The host keys of the machines of a Workspace with roles, in its namespace. */
export const sshHostKeys = 'ssh-host-keys';
/** A namespace's account of OpenStack. */
export const openstackCredentials = 'openstack-credentials';

/** Who may write a Secret lets authors put it into guests, which its authors read: `pelotech.ot/use: password`. */
const useLabel = 'pelotech.ot/use';
export const usedAsPassword = { [useLabel]: 'password' };
/** Likewise for the key by which the ssh server of a guest is known. */
export const usedAsHostKey = { [useLabel]: 'host-key' };
export const hostKeyLabel = `${useLabel}=${usedAsHostKey[useLabel]}`;
export const isHostKey = ({ metadata: { labels } }: Secret) => labels?.[useLabel] === usedAsHostKey[useLabel];

export const passwordLabel = `${useLabel}=${usedAsPassword[useLabel]}`;

/** A name that a shell and kubectl take as one word. Of other text that an author wrote they would run a part, or take it as an option. */
export const isOneWord = (name: string) => /^[a-zA-Z0-9][-._a-zA-Z0-9]*$/.test(name);

/** The command that creates a Secret with these keys: of each file without the line break at its end, which --from-file keeps. */
export const makeSecretOf = (keys: readonly string[], { namespace, name }: ObjectReference) =>
  `kubectl create secret generic ${isOneWord(name) ? name : 'SECRET'} -n ${namespace} ${keys.map((key) => `--from-literal=${key}="$(cat FILE)"`).join(' ')}`;

/** The command that creates a Secret for downloads. */
export const makeSecret = (ref: ObjectReference) => makeSecretOf(['accessKeyId', 'secretKey'], ref);

/** The command that lets a Secret be a password. */
export const labelAsPassword = (name: string, namespace = '') =>
  `kubectl label secret ${name} -n ${namespace} ${passwordLabel}`;

/** The label on it does not count: who makes machines there may be told to label Secrets, and these are the operator's. */
export const isNeverPassword = (name: string) => [ansibleCredentials, sshHostKeys, openstackCredentials].includes(name);

export const isPassword = ({ metadata: { name, labels } }: Secret) =>
  labels?.[useLabel] === usedAsPassword[useLabel] && !isNeverPassword(name);
