import * as z from 'zod';
import type { OpenStackRequest } from './request.ts';
import { step } from './request.ts';

/** A public key that Nova puts into a new server; it belongs to the user, not to the project. */
export const KeyPair = z.object({ keypair: z.object({ name: z.string() }) });
export type KeyPair = z.infer<typeof KeyPair>;

/** One for each machine, unique over all namespaces: they may share one user. */
export const keyPairName = (uid: string) => `kup-${uid}`;

const compute = { service: 'compute' } as const;

export const listKeyPairs = (): OpenStackRequest => ({
  ...compute,
  operation: 'listKeyPairs',
  method: 'GET',
  path: '/os-keypairs',
});

export const showKeyPair = (uid: string): OpenStackRequest => ({
  ...compute,
  operation: 'showKeyPair',
  method: 'GET',
  path: `/os-keypairs/${step(keyPairName(uid))}`,
});

export const createKeyPair = (uid: string, publicKey: string): OpenStackRequest => ({
  ...compute,
  operation: 'createKeyPair',
  method: 'POST',
  path: '/os-keypairs',
  body: { keypair: { name: keyPairName(uid), public_key: publicKey, type: 'ssh' } },
});

/** Also while a server uses it: Nova copies the key. */
export const deleteKeyPair = (uid: string): OpenStackRequest => ({
  ...compute,
  operation: 'deleteKeyPair',
  method: 'DELETE',
  path: `/os-keypairs/${step(keyPairName(uid))}`,
});
