import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Cluster } from '../../install/cluster.ts';
import { type Broken, broken, keptPolicy, type Place, restorePolicy } from './broken.ts';
import { lackingIn } from './definitions.ts';
import type { Finding } from './finding.ts';
import { findingLines, findingsOf } from './findings.ts';
import { readInstallation, there } from './installation.ts';

/** A cluster with a complete installation, for the tests to break. */
export interface Patient {
  cluster: Cluster;
  /** Acts as Knative's own controller. */
  knative: Kube;
  /** All that is installed except the policy. */
  manifests: readonly KubernetesObject[];
  putBack(objects: readonly KubernetesObject[]): Promise<unknown>;
  /** Makes Knative reconcile again while the doctor still finds something. */
  nudge?(): Promise<unknown>;
  /** How long the cluster may take to notice a change. */
  withinMs: number;
}

/** The current findings of the doctor. */
export const look = async ({ cluster }: Patient): Promise<Finding[]> =>
  findingsOf(await readInstallation(cluster, Date.now()));

/** Waits until the doctor finds nothing. */
export const untilWhole = (patient: Patient) =>
  expect
    .poll(
      async () => {
        const found = await look(patient);
        if (found.length > 0) await patient.nudge?.();
        return found;
      },
      { timeout: patient.withinMs, interval: 1_000 },
    )
    .toEqual([]);

/** Declares a test that a complete installation has no findings, and one test for each fault that can be made here. */
export function declareBroken(place: Place, patientOf: () => Patient, ways: readonly Broken[] = broken): void {
  test('a complete installation has no findings', async () => {
    const patient = patientOf();
    await untilWhole(patient);
    const installation = await readInstallation(patient.cluster, Date.now());
    expect(findingLines(findingsOf(installation), installation)).toEqual([
      expect.stringMatching(/^Checked \d+ installed objects and 0 images\. Nothing found\.$/),
    ]);
  });

  for (const one of ways) {
    const why = one.not?.[place];
    if (why) console.warn(`skipped: "${one.name}": ${why}`);
    test.skipIf(why)(`${one.name} is found, with its remedy`, async () => {
      const patient = patientOf();
      const { knative } = patient;
      const { kube } = patient.cluster;
      const policy = await keptPolicy(kube);
      const isMeant = ({ name, remedy, expected, found }: Finding) =>
        one.finding.test(name) && one.remedy.test(remedy) && expected !== '' && found !== '';
      await one.break(kube, knative);
      try {
        await expect
          .poll(() => look(patient), { timeout: patient.withinMs, interval: 500 })
          .toSatisfy((found: Finding[]) => found.some(isMeant));
      } finally {
        await one.mend?.(kube, knative);
        await patient.putBack(await lostOf(patient));
        await restorePolicy(kube, policy);
      }
      await untilWhole(patient);
    });
  }
}

/** The manifests whose objects are missing or incomplete. */
export async function lostOf({ cluster, manifests }: Patient): Promise<KubernetesObject[]> {
  const found = await Promise.all(manifests.map((manifest) => there(cluster, manifest)));
  return manifests.filter((manifest, index) => lackingIn(manifest, found[index], '') !== undefined);
}
