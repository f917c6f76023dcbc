import { putImage } from '../stories/images.ts';
import { onLocalCluster } from '../stories/local-world.ts';
import { createImage, untilPhase } from '../stories/world.ts';

/** Deliveries that one image causes, from its creation to its snapshot, with the real timing of CDI and the snapshotter. */
export interface ImageEvents {
  images: number;
  /** Deliveries to functions, by the kind of the object that changed. */
  deliveries: ReadonlyMap<string, number>;
}

const images = 10;

/** Counts what the Triggers let through, timers apart; every event passes every Trigger, whether it wants it or not. */
export async function countImageEvents(): Promise<ImageEvents> {
  const deliveries = new Map<string, number>();
  await onLocalCluster({
    name: 'events of images',
    policy: { concurrency: '4' },
    local: {
      faults: {
        drop: ({ event, trigger }) => {
          const { kind } = event.attributes;
          if (typeof kind === 'string') {
            const key = `${kind} → ${trigger}`;
            deliveries.set(key, (deliveries.get(key) ?? 0) + 1);
          }
          return false;
        },
      },
    },
    run: async (world) => {
      await putImage(world, 'one', { key: 'one.qcow2' });
      const names = Array.from({ length: images }, (_, index) => `image-${index}`);
      for (const name of names) await createImage(world, name, { url: `${world.store.url}/images/one.qcow2` });
      for (const name of names) await untilPhase(world, name, 'Succeeded');
    },
  });
  return { images, deliveries };
}
