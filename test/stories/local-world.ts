import { execFile } from 'node:child_process';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { DataFolder } from '../../deploy/local/data-folder.ts';
import { startObjectStore } from '../../deploy/local/object-store/object-store.ts';
import { type LocalCluster, startLocal } from '../../deploy/local/start.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { trustPublicationKey } from '../support/builders/publications.ts';
import { expectInvariants } from './expect-invariants.ts';
import { recordHistory } from './history.ts';
import { type Story, setPolicy, type World } from './world.ts';

const keys = { accessKeyId: 'reader', secretKey: 'a-secret-of-the-tests' };

/**
 * Runs a story on a local cluster of its own, in memory or kept in a folder, and takes that down again. `before` may
 * change the cluster before the story begins, and keep it to look at until the story is over.
 */
export async function onLocalCluster(
  story: Story,
  dataFolder?: DataFolder,
  before?: (cluster: LocalCluster) => Promise<void>,
): Promise<void> {
  const { startStore = startObjectStore } = story;
  const store = await startStore({ keys: [keys], publicBuckets: ['public'] });
  const cluster = await startLocal({
    schedules: { sweep: '* * * * * *', audit: '*/2 * * * * *' },
    gracePeriodMs: 0,
    ...(story.simulators === false ? { simulators: false } : story.simulators),
    ...story.local,
    ...(dataFolder ? { dataFolder } : {}),
  });
  const folder = await mkdtemp(join(tmpdir(), 'ot-story-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, cluster.server.kubeconfig());
  const { kube, broker } = cluster;
  const namespace = 'lab';
  await kube.create(Namespace, { metadata: { name: namespace } });
  await kube.create(Secret, {
    metadata: { name: 's3-reader', namespace },
    data: { accessKeyId: base64(keys.accessKeyId), secretKey: base64(keys.secretKey) },
  });
  await trustPublicationKey(kube);
  const history = await recordHistory(kube);
  const world: World = {
    kube,
    broker,
    store,
    namespace,
    history,
    kubectl: (await hasKubectl()) ? kubectl(kubeconfig) : undefined,
  };
  try {
    await before?.(cluster);
    const allowedSources = `${store.url}/** s3-reader`;
    await setPolicy(world, {
      allowedSources,
      concurrency: '2',
      retryLimit: '2',
      retryBackoffDuration: '200ms',
      ...story.policy,
    });
    await story.run(world);
    await expectInvariants(story, history);
  } finally {
    await history.stop();
    await cluster.close();
    await store.close();
    await rm(folder, { recursive: true });
  }
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Whether the real kubectl is on the PATH. */
export async function hasKubectl(): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const isThere = await access(join(folder, 'kubectl')).then(
      () => true,
      () => false,
    );
    if (isThere) return true;
  }
  return false;
}

export const kubectl =
  (kubeconfig: string): NonNullable<World['kubectl']> =>
  (...args) =>
    new Promise((resolve) => {
      const env = { ...process.env, KUBECONFIG: kubeconfig };
      const child = execFile('kubectl', args, { env, timeout: 30_000 }, (error, out, err) =>
        resolve({ code: error ? (child.exitCode ?? 1) : 0, out, err }),
      );
    });
