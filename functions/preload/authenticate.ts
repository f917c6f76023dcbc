import type { Message } from '../../shared/function.ts';
import { publicationKeysIn, publicationKeysRef, signedAtMs, takenForMs } from '../../shared/images/signature.ts';
import type { Secret } from '../../shared/kinds/core/secret.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';

/** Why the sender of a publication is not known to be a publisher. */
export interface Stranger {
  /** The same for all such publications. */
  kind: 'Unsigned' | 'NoKey' | 'WrongSignature' | 'TooOld';
  message: string;
}

const secret = `Secret ${keyOf(publicationKeysRef)}`;

/** The message with the time at which it was signed, in place of what anyone could have written; or why it is a stranger's. */
export function authenticate(
  message: Message,
  { policy, keys, nowMs }: { policy: Policy; keys: Secret | undefined; nowMs: number },
): { message: Message; stranger?: Stranger } {
  const refused = (kind: Stranger['kind'], text: string) => ({ message, stranger: { kind, message: text } });
  if (!message.signed) {
    if (policy.values.unsignedPublications === 'Accept') return { message };
    const how = 'ot-functions preload --sign, or curl and openssl as in functions/preload/README.md';
    return refused(
      'Unsigned',
      `it is not signed. Sign it with a key of ${secret} (${how}), or, if the Broker authenticates its senders, set the policy's unsignedPublications to Accept`,
    );
  }
  const usable = publicationKeysIn(keys);
  if (usable.length === 0)
    return refused(
      'NoKey',
      `it is signed, and ${secret} has no key to verify it with (ot-functions doctor says how to make one)`,
    );
  const atMs = signedAtMs(message.id, message.signed, usable);
  if (atMs === undefined)
    return refused(
      'WrongSignature',
      `its webhooksignature is by none of the ${usable.length} keys in ${secret}, or of another id, webhooktimestamp or data`,
    );
  const time = new Date(atMs).toISOString();
  if (atMs < nowMs - takenForMs)
    return refused('TooOld', `it was signed at ${time}, over five hours ago: publish it again`);
  return { message: { ...message, time } };
}
