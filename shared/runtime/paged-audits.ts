import { type Batch, noEvents, type Subject } from '../function.ts';
import { ConfigMap } from '../kinds/core/config-map.ts';
import { policyName } from '../policy.ts';
import { Conflict } from './errors.ts';
import { readPolicyMap } from './read-policy.ts';
import type { Ports, Reconciler } from './reconcile.ts';

/** What an audit that is walked page by page runs with. */
type Walking = Pick<Reconciler<unknown>, 'declaration' | 'background' | 'republish'> & {
  ports: Pick<Ports, 'kube' | 'now'>;
};

/**
 * Has an audit walked page by page, if the function can: what waits meanwhile shares the reconcile of the next page, or comes before
 * it. An audit that is asked for during another shares its result. After an edit of the policy everything is walked, too: by a walk that
 * begins after it, and once for each edit: an event of it may be sent by anyone who may post to the Broker.
 */
export function pagedAudits(
  { declaration, ports, background, republish }: Walking,
  enqueue: (batch: Batch) => Promise<void>,
): (batch: Batch) => Promise<void> {
  const { audit } = declaration;
  if (!audit) return enqueue;
  const walk = async ({ audit: isAudit }: Batch) => {
    background.waitUntil(republish());
    const errors: unknown[] = [];
    for await (const audited of audit({ kube: ports.kube, nowMs: ports.now() })) {
      if (audited.length === 0) continue;
      await enqueue({ ...noEvents, audit: isAudit, audited }).catch((error: unknown) => errors.push(error));
    }
    const [error] = errors;
    if (error !== undefined) throw errors.find((one) => !(one instanceof Conflict)) ?? error;
  };
  let walking: Promise<void> | undefined;
  let walkedPolicy: string | undefined;
  return async (batch) => {
    const isEdit = batch.subjects.some(isPolicy);
    if (!batch.audit && !isEdit) return enqueue(batch);
    const policy = isEdit ? ((await readPolicyMap(ports.kube))?.metadata.resourceVersion ?? '') : undefined;
    if (!batch.audit && policy === walkedPolicy) return;
    if (isEdit) await walking?.catch(() => undefined);
    walking ??= walk(batch).finally(() => {
      walking = undefined;
    });
    await walking;
    walkedPolicy = policy ?? walkedPolicy;
  };
}

const isPolicy = ({ kind, name }: Subject) => kind === ConfigMap.kind && name === policyName;
