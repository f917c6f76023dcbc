import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { policyRef } from '../../../shared/policy.ts';
import { applyManifests } from '../../manifests.ts';
import { type ObjectStore, startObjectStore } from '../object-store/object-store.ts';
import { type LocalCluster, startLocal } from '../start.ts';
import { secretManifest } from '../up/key-pair.ts';
import { brokenLink, buckets, type DemoImage, labImage, lateImage } from './images.ts';

/** What the demo downloads at, all images together. */
const bytesPerSecond = 6e6;

const keys = { accessKeyId: 'demo-reader', secretKey: 'demo-reader-secret' };

/** The policy of the demo: two at once, and retries that no one has to wait for. */
export const demoPolicy = { concurrency: 2, retryLimit: 2 } as const;

export const where = { namespace: 'vmdi-farm', secretName: 's3-reader' } as const;

export interface DemoWorld {
  images: readonly DemoImage[];
  store: ObjectStore;
  cluster: LocalCluster;
  close(): Promise<void>;
}

/** Brings up object store and cluster, and puts in what an administrator would: the Secret and the policy. */
export async function setUp(images: readonly DemoImage[]): Promise<DemoWorld> {
  const store = await startObjectStore({
    keys: [keys],
    publicBuckets: [buckets.open],
    bytesPerSecond,
    faults: [{ match: brokenLink.name, mode: 'cutAt', fraction: brokenLink.fraction }],
  });
  let cluster: LocalCluster | undefined;
  const close = async () => {
    await cluster?.close();
    await store.close();
  };
  try {
    for (const { bucket, key, content } of [...images, lateImage(), labImage()]) {
      if (content) await store.put(bucket, key, content);
    }
    cluster = await startLocal({
      schedules: { sweep: '* * * * * *', audit: '* * * * * *' },
      // Nothing has ever been downloaded to this cluster.
      gracePeriodMs: 0,
    });
    await applyManifests(cluster.kube, [secretManifest({ ...where, keys })]);
    await cluster.kube.patch(ConfigMap, policyRef, {
      data: {
        concurrency: String(demoPolicy.concurrency),
        retryLimit: String(demoPolicy.retryLimit),
        // What fails is shown by its downloads.
        inspectTimeout: '0s',
        retryBackoffDuration: '1s',
        maxRetryBackoffDuration: '2s',
        // The demo ends with nothing left.
        workspaceImagesKeptFor: '0s',
        allowedSources: `${store.url}/** ${where.secretName}`,
        // What the bare name of a lab's image stands for.
        imageUrlTemplate: `${store.url}/${buckets.secret}/{name}.qcow2`,
        imageDiskSize: '2Gi',
      },
    });
    return { images, store, cluster, close };
  } catch (error) {
    await close();
    throw error;
  }
}
