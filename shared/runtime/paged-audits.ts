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
 * it. An audit that is asked for during another shares its result. After an edit of the policy, which is an event like any other,
 * everything is walked, too: by a walk that begins after it, and once for each edit, because anyone who may post to the Broker may send
 * an event of it. That walk is no audit; an audit that is requested meanwhile follows it.
 */
export function pagedAudits(
  { declaration, ports, background, republish }: Walking,
  enqueue: (batch: Batch) => Promise<void>,
): (batch: Batch) => Promise<void> {
  const { audit } = declaration;
  if (!audit) return enqueue;
  const walk = async (isAudit: boolean) => {
    background.waitUntil(republish());
    const errors: unknown[] = [];
    const take = async (found: Pick<Batch, 'audited' | 'totals'>) =>
      enqueue({ ...noEvents, audit: isAudit, ...found }).catch((error: unknown) => void errors.push(error));
    const pages = audit({ kube: ports.kube, nowMs: ports.now() });
    let page = await pages.next();
    for (; !page.done; page = await pages.next()) if (page.value.length > 0) await take({ audited: page.value });
    if (page.value && isAudit) await take({ totals: page.value });
    const [error] = errors;
    if (error !== undefined) throw errors.find((one) => !(one instanceof Conflict)) ?? error;
  };
  let walking: { isAudit: boolean; over: Promise<void> } | undefined;
  let walkedPolicy: string | undefined;
  const walkFor = async ({ audit: isAudit }: Batch) => {
    const policy = isAudit ? undefined : ((await readPolicyMap(ports.kube))?.metadata.resourceVersion ?? '');
    if (!isAudit) await walking?.over.catch(() => undefined);
    else while (walking && !walking.isAudit) await walking.over.catch(() => undefined);
    if (!isAudit && policy === walkedPolicy) return;
    walking ??= {
      isAudit,
      over: walk(isAudit).finally(() => {
        walking = undefined;
      }),
    };
    await walking.over;
    walkedPolicy = policy ?? walkedPolicy;
  };
  return async (batch) => {
    if (batch.audit) await walkFor(batch);
    else if (batch.subjects.some(isPolicy)) await Promise.all([enqueue(batch), walkFor(batch)]);
    else await enqueue(batch);
  };
}

const isPolicy = ({ kind, name }: Subject) => kind === ConfigMap.kind && name === policyName;
