import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'vitest';
import { enumerateWritePoints } from '../proofs/write-points/enumerate.ts';
import { writeFaults } from '../proofs/write-points/fault-proxy.ts';
import { setUp } from '../proofs/write-points/set-up.ts';
import { putImage } from '../stories/images.ts';
import { prepare, preparePermissions } from './installation.ts';
import { kubectlOrFail } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

/** What the write points need of a cluster. */
export async function prepareForWritePoints(): Promise<void> {
  await prepare();
  await preparePermissions();
}

const tokenOf = async (name: string) =>
  (await kubectlOrFail('create', 'token', name, '--namespace=sync-operator', '--duration=1h')).trim();

/** Every write of one image meets every fault, or every n-th of these, on the cluster of KUBECONFIG. */
export async function injectAtWritePoints(everyNth: number): Promise<void> {
  const config = new KubeConfig();
  config.loadFromDefault();
  await onRealCluster(
    {
      name: 'write points',
      run: async (world) => {
        await putImage(world, 'one');
        const parts = await setUp({ config, tokenOf, ...world });
        try {
          const { points, runs, unmet, findings } = await enumerateWritePoints(parts, console.log, everyNth);
          for (const fault of unmet) console.log(`skipped: ${fault}: no such write came`);
          const injected =
            everyNth === 1 ? `${writeFaults.length} faults` : `1 of ${everyNth} of ${writeFaults.length} faults`;
          console.log(
            `result: write points: ${points.length} writes × ${injected}, ${runs} runs, ${unmet.length} faults that met no write, ${findings.length} violations`,
          );
          expect(findings).toEqual([]);
          expect(points.length).toBeGreaterThanOrEqual(10);
          expect(unmet.length).toBeLessThan(points.length / 4);
          expect(parts.beside.letters()).toEqual([]);
        } finally {
          await parts.close();
        }
      },
    },
    { kube: adminClient(), broker: '' },
  );
}
