import { timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Signed } from '../function.ts';
import type { Secret } from '../kinds/core/secret.ts';
import { operatorNamespace } from '../operator.ts';

/** The Secret whose entries are the keys of publishers. */
export const publicationKeysRef = { namespace: operatorNamespace, name: 'publication-keys' };

/** How far the clock of a sender may be ahead: what claims to come from later would make all that follow look old. */
export const aheadAtMostMs = 5 * 60_000;

/**
 * How long a signed publication is taken after it was signed. It bounds what a repeat can do: make an image again that was deleted
 * since, as its publisher wanted it. Standard Webhooks suggests five minutes, but a Broker delivers for four and a half hours.
 */
export const takenForMs = 5 * 60 * 60_000;

/** A key as Standard Webhooks writes it. */
export const publicationKeyForm = 'whsec_ and 24 to 64 bytes in base64';
export function isPublicationKey(text: string): boolean {
  const [, base64 = ''] = /^whsec_(.*)$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}

/** The keys that a Secret holds, in the order of their names; other entries are ignored. */
export const publicationKeysIn = (secret: Secret | undefined): string[] =>
  Object.entries(secret?.data ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, encoded]) => Buffer.from(encoded, 'base64').toString().trim())
    .filter(isPublicationKey);

/**
 * What is signed of an event's data: JSON without white space and needless escapes, its members in the order of the sender. A Broker may
 * deliver a binary event as a structured one, which keeps neither.
 */
export const signedContent = (data: unknown) => JSON.stringify(data);

/** The extension attributes that sign an event, as Standard Webhooks signs a message; its `webhook-id` is the event's own id. */
export function signatureAttributes(key: string, event: { id: string; data: unknown; atMs: number }) {
  const seconds = Math.floor(event.atMs / 1000);
  return {
    webhooktimestamp: String(seconds),
    webhooksignature: signatureOf(key, event.id, seconds, signedContent(event.data)),
  };
}

const signatureOf = (key: string, id: string, seconds: number, content: string) =>
  new Webhook(key).sign(id, new Date(seconds * 1000), content);

/** When the sender signed, in milliseconds since 1970, if one of the keys made the signature; else undefined. */
export function signedAtMs(id: string, { timestamp, signature, content }: Signed, keys: readonly string[]) {
  if (!/^\d{1,12}$/.test(timestamp)) return undefined;
  const seconds = Number(timestamp);
  const found = signature.split(' ');
  const isBy = (key: string) => {
    const expected = signatureOf(key, id, seconds, content);
    return found.some((one) => isEqual(one, expected));
  };
  return keys.some(isBy) ? seconds * 1000 : undefined;
}

const isEqual = (a: string, b: string) => {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
};
