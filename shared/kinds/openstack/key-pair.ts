import * as z from 'zod';
import { requestTo, step } from './request.ts';

/** A public key that Nova puts into a new server; it belongs to the user, not to the project. */
export const KeyPair = z.object({ keypair: z.object({ name: z.string() }) });
export type KeyPair = z.infer<typeof KeyPair>;

/** One for each machine, unique over all namespaces: they may share one user. */
export const keyPairName = (uid: string) => `kup-${uid}`;

const request = requestTo('compute');

export const listKeyPairs = () => request('listKeyPairs', 'GET', '/os-keypairs');

export const showKeyPair = (uid: string) => request('showKeyPair', 'GET', `/os-keypairs/${step(keyPairName(uid))}`);

export const createKeyPair = (uid: string, publicKey: string) =>
  request('createKeyPair', 'POST', '/os-keypairs', {
    body: { keypair: { name: keyPairName(uid), public_key: publicKey, type: 'ssh' } },
  });

/** Also while a server uses it: Nova copies the key. */
export const deleteKeyPair = (uid: string) =>
  request('deleteKeyPair', 'DELETE', `/os-keypairs/${step(keyPairName(uid))}`);
