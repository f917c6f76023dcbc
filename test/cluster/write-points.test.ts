import { KubeConfig } from '@kubernetes/client-node';
import { beforeAll, expect, test } from 'vitest';
import { putImage } from '../journeys/images.ts';
import { enumerateWritePoints } from '../write-points/enumerate.ts';
import { writeFaults } from '../write-points/fault-proxy.ts';
import { setUp } from '../write-points/set-up.ts';
import { prepare, preparePermissions } from './installation.ts';
import { kubectlOrFail } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

beforeAll(async () => {
  await prepare();
  await preparePermissions();
});

const tokenOf = async (name: string) =>
  (await kubectlOrFail('create', 'token', name, '--namespace=sync-operator', '--duration=1h')).trim();

test('every write of one image, from its creation to its deletion, may go wrong in every way', async () => {
  const config = new KubeConfig();
  config.loadFromDefault();
  await onRealCluster(
    {
      name: 'write points',
      run: async (world) => {
        await putImage(world, 'one');
        const parts = await setUp({ config, tokenOf, ...world });
        try {
          const { points, runs, unmet, findings } = await enumerateWritePoints(parts, console.log);
          for (const fault of unmet) console.log(`skipped: ${fault}: no such write came`);
          console.log(
            `result: write points: ${points.length} writes × ${writeFaults.length} faults, ${runs} runs, ${unmet.length} faults that met no write, ${findings.length} violations`,
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
}, 900_000);
