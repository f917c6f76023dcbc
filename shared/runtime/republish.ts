import type { FunctionDeclaration } from '../function.ts';
import { mapConcurrently } from './concurrency.ts';
import type { Kube } from './kube.ts';
import { domainEvent } from './notify.ts';
import { type About, type EventPublisher, postsAtOnce } from './publish.ts';

/** An audit interval: a Pod is restarted within five minutes, and a function that only an audit starts within ten. */
const windowMs = 600_000;

/**
 * Publishes what was not published or not acknowledged, under the same ids; a timer event calls it, and the end of the process, for
 * which a function that sleeps need not live to see another timer event. The first timer event also publishes the facts of the last
 * minutes before this process: the process before it may have ended between a status and its event.
 */
export function republishing(
  { facts }: Pick<FunctionDeclaration, 'facts'>,
  { kube, publisher, now }: { kube: Kube; publisher: EventPublisher; now(): number },
): (isEnding?: boolean) => Promise<void> {
  const startMs = now();
  let isDone = facts === undefined;
  const exists = async (about: About) =>
    facts !== undefined && (await kube.get(facts.resource, about))?.metadata.uid === about.uid;
  const publishEarlier = async () => {
    if (isDone || facts === undefined) return;
    isDone = true;
    try {
      for await (const { items } of kube.pages(facts.resource)) {
        const earlier = items.flatMap(facts.of).filter(({ data }) => isBefore(startMs, String(data.time)));
        await mapConcurrently(earlier, postsAtOnce, async (one) => publisher.publish(...domainEvent(one)));
      }
    } catch (error) {
      isDone = false;
      throw error;
    }
  };
  return async (isEnding = false) => {
    await publisher.republish(exists);
    if (!isEnding) await publishEarlier();
  };
}

/** Within the window; a time has whole seconds. */
const isBefore = (startMs: number, time: string) =>
  Date.parse(time) <= startMs && Date.parse(time) >= startMs - windowMs;
