import { createHash, generateKeyPairSync } from 'node:crypto';
import * as z from 'zod';
import { bodyAs } from '../body.ts';
import { type Cloud, microsOf } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import type { KeyPair } from './state.ts';

const NewKeyPair = z.object({
  keypair: z.object({
    name: z.string().min(1).max(255),
    public_key: z.string().min(1).optional(),
    type: z.enum(['ssh', 'x509']).default('ssh'),
    user_id: z.string().optional(),
  }),
});

/** Keypairs belong to a user, whatever project he is in. */
export function keyPairRoutes(cloud: Cloud): Route[] {
  const { compute } = cloud;
  const of = (user: string) => compute.keyPairs.get(user) ?? new Map<string, KeyPair>();
  const userIn = ({ caller, query, minor }: Asked) =>
    minor >= 10 && caller.isAdmin ? (query.get('user_id') ?? caller.userId) : caller.userId;
  const found = (asked: Asked) => {
    const { name = '' } = asked.params;
    const user = userIn(asked);
    const known = of(user).get(name);
    if (!known) throw new Refusal(404, `Keypair ${name} not found for user ${user}`);
    return known;
  };
  const typed = (minor: number) => (minor >= 2 ? { type: 'ssh' } : {});
  return [
    route('GET /os-keypairs', 'listKeyPairs', (asked) => {
      const own = [...of(userIn(asked)).values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      return ok({
        keypairs: own.map(({ name, publicKey, fingerprint }) => ({
          keypair: { name, public_key: publicKey, fingerprint, ...typed(asked.minor) },
        })),
      });
    }),
    route('POST /os-keypairs', 'createKeyPair', ({ body, caller, minor }) => {
      const { keypair } = bodyAs(NewKeyPair, body);
      const user = (minor >= 10 && caller.isAdmin && keypair.user_id) || caller.userId;
      const { name, public_key, private_key } = checked(keypair, minor);
      if (of(user).has(name)) throw new Refusal(409, `Key pair '${name}' already exists.`);
      if (compute.quotas.isOver(caller.projectId, 'key_pairs', of(user).size, 1))
        throw new Refusal(403, 'Quota exceeded, too many key pairs.');
      const made = {
        id: ++compute.lastKeyPair,
        name,
        userId: user,
        publicKey: public_key,
        fingerprint: fingerprintOf(public_key),
        createdMs: cloud.clock.now(),
      };
      compute.keyPairs.set(user, of(user).set(name, made));
      const shown = { name, public_key, fingerprint: made.fingerprint, user_id: user, ...private_key, ...typed(minor) };
      return ok({ keypair: shown }, minor >= 2 ? 201 : 200);
    }),
    route('GET /os-keypairs/:name', 'showKeyPair', (asked) => {
      const { id, name, publicKey, fingerprint, userId, createdMs } = found(asked);
      return ok({
        keypair: {
          ...{ id, name, public_key: publicKey, fingerprint, user_id: userId, ...typed(asked.minor) },
          ...{ created_at: microsOf(createdMs), updated_at: null, deleted: false, deleted_at: null },
        },
      });
    }),
    // Also while servers use it: each has its own copy.
    route('DELETE /os-keypairs/:name', 'deleteKeyPair', (asked) => {
      of(userIn(asked)).delete(found(asked).name);
      return done(asked.minor >= 2 ? 204 : 202);
    }),
  ];
}

function checked({ name, public_key }: z.infer<typeof NewKeyPair>['keypair'], minor: number) {
  // `.` and `@` only from 2.92 on.
  const isGood = minor >= 92 ? /^[\w .@-]+$/.test(name) : /^[\w -]+$/.test(name);
  if (!isGood || name.trim() !== name)
    throw new Refusal(400, 'Keypair data is invalid: Keypair name contains unsafe characters');
  if (public_key !== undefined) return { name, public_key, private_key: {} };
  if (minor >= 92)
    throw new Refusal(
      400,
      `Invalid input for field/attribute keypair. Value: {'name': '${name}'}. 'public_key' is a required property`,
    );
  const pair = generateKeyPairSync('ed25519');
  const raw = pair.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const private_key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return {
    name,
    public_key: `ssh-ed25519 ${sshText('ssh-ed25519', raw)} Generated-by-Nova`,
    private_key: { private_key },
  };
}

const sshText = (...parts: (string | Buffer)[]) =>
  Buffer.concat(
    parts.map((part) => {
      const bytes = Buffer.from(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return Buffer.concat([length, bytes]);
    }),
  ).toString('base64');

/** MD5 of the key in pairs of digits; refuses what is no key of the kind it says. */
function fingerprintOf(key: string): string {
  const [type = '', data = ''] = key.trim().split(/\s+/);
  const bytes = Buffer.from(data, 'base64');
  const length = bytes.length >= 4 ? bytes.readUInt32BE(0) : 0;
  const isKey =
    /^(ssh|ecdsa)-/.test(type) && bytes.length > 4 + length && bytes.subarray(4, 4 + length).toString() === type;
  if (!isKey) throw new Refusal(400, 'Keypair data is invalid: failed to generate fingerprint');
  return createHash('md5')
    .update(bytes)
    .digest('hex')
    .replace(/(..)(?!$)/g, '$1:');
}
