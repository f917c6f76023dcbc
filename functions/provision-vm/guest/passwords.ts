import { parseDocument } from 'yaml';
import * as z from 'zod';
import { isNeverPassword, labelAsPassword, passwordLabel, type Secret } from '../../../shared/kinds/core/secret.ts';
import type { User, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { final, type Observed, type Obstacle, passwordKey } from '../observed.ts';
import { loginsOf } from './logins.ts';

/** From which Secret and key each login's password was read: {"ops": "login/password"}. */
export const passwordsFrom = 'pelotech.ot/passwords-from';

/** What the cloud-init Secret is to say of where its passwords are from. */
export function passwordAnnotations(machine: VirtualMachine): Record<string, string> {
  const from = loginsOf(machine).flatMap(({ login, user }) =>
    user.passwordSecretRef ? [[login, passwordKey(user.passwordSecretRef)]] : [],
  );
  return from.length > 0 ? { [passwordsFrom]: JSON.stringify(Object.fromEntries(from)) } : {};
}

/**
 * The passwords as they are found; where the Secret of one is gone, as the cloud-init Secret was written with it for that
 * very login and reference: once a machine is made, people may take the Secret with its first password away.
 */
export function withKept({ machine, passwords }: Observed, secret: Secret): Observed['passwords'] {
  const missing = loginsOf(machine).flatMap(({ login, user }) => {
    const key = user.passwordSecretRef && passwordKey(user.passwordSecretRef);
    return key === undefined || passwords.get(key) !== undefined ? [] : [{ login, key }];
  });
  if (missing.length === 0) return passwords;
  const from = Sources.safeParse(secret.metadata.annotations?.[passwordsFrom]).data ?? {};
  const users = Users.safeParse(secret.data?.userdata).data?.users.filter((one) => typeof one !== 'string') ?? [];
  const kept = missing.flatMap(({ login, key }) => {
    const plain = from[login] === key ? users.find((one) => one.name === login)?.plain_text_passwd : undefined;
    return plain === undefined ? [] : [[keptKey(login, key), plain] as const];
  });
  return new Map([...passwords, ...kept]);
}

type Reference = NonNullable<User['passwordSecretRef']>;

/** The password of a login: what its Secret holds, or what was kept of it. */
export function passwordOf(passwords: Observed['passwords'], login: string, reference: Reference): string | undefined {
  const key = passwordKey(reference);
  return passwords.get(key) ?? passwords.get(keptKey(login, key));
}

/** Kept for one login only: another login that names the same Secret now has never had its password. */
const keptKey = (login: string, key: string) => `${login}\u0000${key}`;

/** A password that is not where the spec says it is, or that no guest may have. */
export function missingPassword({ machine, passwords, refusedSecrets }: Observed): Obstacle | undefined {
  for (const { login, user } of loginsOf(machine)) {
    const { name, passwordSecretRef } = user;
    if (!passwordSecretRef || passwordOf(passwords, login, passwordSecretRef) !== undefined) continue;
    if (refusedSecrets.has(passwordSecretRef.name)) return notAllowed(machine, name, passwordSecretRef.name);
    return final(
      'PasswordSecretMissing',
      `Expected the password of user ${JSON.stringify(name)} in key ${passwordSecretRef.key} of Secret ${machine.metadata.namespace}/${passwordSecretRef.name}, found none; create it, and the machine continues within ten minutes.`,
    );
  }
  return undefined;
}

/** Says nothing of what the Secret holds. */
function notAllowed({ metadata: { namespace } }: VirtualMachine, user: string, secret: string): Obstacle {
  const found = `Secret ${namespace}/${secret} may not be the password of user ${JSON.stringify(user)}`;
  return final(
    'PasswordSecretNotAllowed',
    isNeverPassword(secret)
      ? `${found}: it holds credentials of the operator; name another Secret.`
      : `${found}: it lacks the label ${passwordLabel}; if the machine's authors may read it, ${labelAsPassword(secret, namespace)}, and the machine continues within ten minutes.`,
  );
}

const parsed = (text: string, context: z.RefinementCtx): unknown => {
  const { errors, contents } = parseDocument(text);
  if (errors.length === 0) return contents?.toJSON();
  context.addIssue({ code: 'custom', message: 'expected YAML' });
  return z.NEVER;
};

const Sources = z.string().transform(parsed).pipe(z.record(z.string(), z.string()));

const Login = z.object({ name: z.string(), plain_text_passwd: z.string().optional() });
const Users = z
  .string()
  .transform((base64, context) => parsed(Buffer.from(base64, 'base64').toString(), context))
  // The first of the list is the word "default".
  .pipe(z.object({ users: z.array(z.union([Login, z.string()])) }));
