import { createHmac } from 'node:crypto';
import type { Secret } from '../../../shared/kinds/core/secret.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Step } from './follow.ts';
import type { Delivered, Reconcile } from './history.ts';
import { isReadable } from './plain-policy.ts';
import { operatorNamespace } from './plain-rules.ts';
import { beganAt, policiesOf } from './reconcile.ts';

const minuteMs = 60_000;
/** From when a signature was made: it counts for five hours, and a clock may be five minutes ahead. */
const [countsForMs, aheadMs] = [300 * minuteMs, 5 * minuteMs];

/** The contents of the Secret of publications, each with the resourceVersion that ended it. */
interface Keys {
  keys: readonly string[];
  untilRevision: number;
}

/** Judges what preload writes: only a publication that is signed, or that the policy takes without, makes or changes an image. */
export function publicationsJudge(reconciles: readonly Reconcile[]) {
  let now: readonly string[] = [];
  const before: Keys[] = [];
  const byPreload = reconciles.filter(({ by, messages }) => by === 'preload' && messages);
  return {
    /** A Secret changed. */
    secret({ object, isGone, revision }: Step): undefined {
      const { namespace, name } = object.metadata;
      if (namespace !== operatorNamespace || name !== 'publication-keys') return;
      before.push({ keys: now, untilRevision: revision });
      now = isGone ? [] : Object.values((object as Secret).data ?? {}).map(textOf);
    },
    image(step: Step<VMDiskImage>): string | undefined {
      const { change, object, isGone, history } = step;
      const { revision } = beganAt(step);
      if (isGone || change.by !== 'preload' || revision === undefined || byPreload.length === 0) return undefined;
      const policies = policiesOf(step);
      const isOpen = policies.some(
        (policy) => isReadable(policy, 'unsignedPublications') && policy.values.unsignedPublications === 'Accept',
      );
      const keys = [
        now,
        ...before.filter(({ untilRevision }) => untilRevision > revision).map((one) => one.keys),
      ].flat();
      const slackMs = aheadMs + (history.skewMs ?? 5000);
      const counts = ({ id, data, signed }: Delivered) => {
        const published = signed ? JSON.parse(signed.content) : data;
        if (!isOf(published, object)) return false;
        if (!signed) return isOpen;
        const ageMs = change.atMs - Number(signed.timestamp) * 1000;
        return ageMs > -slackMs && ageMs < countsForMs + slackMs && keys.some((key) => isSignedWith(key, id, signed));
      };
      // A stale read takes a reconcile back to before its beginning.
      const possible = byPreload.filter(({ since }) => since >= revision && since < step.revision);
      const messages = possible.flatMap((one) => one.messages ?? []);
      if (messages.some(counts)) return undefined;
      return `${object.metadata.namespace}/${object.metadata.name} was published by a stranger`;
    },
  };
}

const textOf = (base64: string) => Buffer.from(base64, 'base64').toString().trim();

/** The publication is about this image, and of the source that it now has. */
function isOf(published: unknown, { metadata, spec }: VMDiskImage): boolean {
  const { name, namespace = metadata.namespace, url = spec.url } = published as Record<string, string>;
  return name === metadata.name && namespace === metadata.namespace && url === spec.url;
}

/** Standard Webhooks: `v1,` and the HMAC of id, time and content in base64. */
function isSignedWith(key: string, id: string, { timestamp, signature, content }: NonNullable<Delivered['signed']>) {
  const bytes = Buffer.from(key.replace(/^whsec_/, ''), 'base64');
  if (bytes.length < 24) return false;
  const expected = createHmac('sha256', bytes).update(`${id}.${timestamp}.${content}`).digest('base64');
  return signature.split(' ').includes(`v1,${expected}`);
}
