import { generatedFolders, readManifests } from '../../deploy/manifests.ts';
import { Trigger } from '../../shared/kinds/eventing/trigger.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import { operatorNamespace, publicBroker } from '../../shared/operator.ts';
import { putImage } from '../stories/images.ts';
import { onLocalCluster } from '../stories/local-world.ts';
import { calm } from '../stories/subscriptions.ts';
import { createImage, untilPhase } from '../stories/world.ts';
import { countOutcomes, type EventOutcome } from './event-outcomes.ts';

/** What one image causes at the Brokers, from its creation to its snapshot, with the real timing of CDI and the snapshotter. */
export interface ImageEvents {
  images: number;
  /** Deliveries to functions, by the kind of the object that changed, or by the fact. */
  deliveries: ReadonlyMap<string, number>;
  /** Facts, and the other events that some Trigger lets through. */
  events: number;
  /** Of these events the hops through the filter: each event passes every Trigger of its Broker, whether it wants it or not. */
  hops: number;
  outcomes: readonly EventOutcome[];
}

export const deliveriesOf = (deliveries: ImageEvents['deliveries']) =>
  [...deliveries.values()].reduce((sum, count) => sum + count, 0);

const images = 10;

/** Lets every fact through and delivers none, so that those are counted, too, that no function wants. */
const observer = {
  metadata: { namespace: operatorNamespace, name: 'observer' },
  spec: { broker: publicBroker, subscriber: { uri: 'http://observer.invalid/' } },
};

/** Counts what the Triggers let through, timers apart. */
export async function countImageEvents(): Promise<ImageEvents> {
  const brokers = new Map(
    (await readManifests(...generatedFolders))
      .filter(({ kind }) => kind === Trigger.kind)
      .map((manifest) => Trigger.parse(manifest))
      .map(({ metadata, spec }) => [`${metadata.namespace}/${metadata.name}`, spec?.broker]),
  );
  const triggersOf = (broker: string | undefined) => [...brokers.values()].filter((one) => one === broker).length;
  const deliveries = new Map<string, number>();
  const seen = new Map<string, number>();
  const { outcomes, serve } = countOutcomes();
  await onLocalCluster({
    name: 'events of images',
    policy: { concurrency: '4' },
    local: {
      serveFunctions: serve,
      faults: {
        drop: ({ event, trigger }) => {
          const { kind, type = '', id = '' } = event.attributes;
          if (type === 'dev.knative.sources.ping') return false;
          const isObserved = trigger === keyOf(observer.metadata);
          const key = `${kind ?? type} → ${trigger}`;
          if (!isObserved) deliveries.set(key, (deliveries.get(key) ?? 0) + 1);
          seen.set(id, triggersOf(isObserved ? publicBroker : brokers.get(trigger)));
          return isObserved;
        },
      },
    },
    run: async (world) => {
      await world.kube.create(Trigger, observer);
      await putImage(world, 'one', { key: 'one.qcow2' });
      const sync = async (...names: string[]) => {
        for (const name of names) await createImage(world, name, { url: `${world.store.url}/images/one.qcow2` });
        for (const name of names) await untilPhase(world, name, 'Succeeded');
      };
      // What begins with the cluster is no image's: processes publish again what was published shortly before they began.
      await sync('first');
      await calm(world);
      for (const counts of [deliveries, seen, outcomes]) counts.clear();
      await sync(...Array.from({ length: images }, (_, index) => `image-${index}`));
    },
  });
  const hops = [...seen.values()].reduce((sum, triggers) => sum + triggers, 0);
  return { images, deliveries, events: seen.size, hops, outcomes: [...outcomes.values()] };
}
