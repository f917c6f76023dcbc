import { expect, test } from 'vitest';
import { lackingIn } from '../../../deploy/cli/doctor/definitions.ts';
import type { Finding } from '../../../deploy/cli/doctor/finding.ts';
import { findingLines, findingsOf } from '../../../deploy/cli/doctor/findings.ts';
import { readInstallation, there } from '../../../deploy/cli/doctor/installation.ts';
import {
  keptPolicy,
  type Misconfiguration,
  misconfigurations,
  type Place,
  restorePolicy,
} from '../../../deploy/cli/doctor/misconfigurations.ts';
import type { Cluster } from '../../../deploy/cli/install/cluster.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';

/** A cluster with a complete installation, for the tests to break. */
export interface Installed {
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
export const look = async ({ cluster }: Installed): Promise<Finding[]> =>
  findingsOf(await readInstallation(cluster, Date.now()));

/** Waits until the doctor finds nothing. */
export const untilNoFindings = (installed: Installed) =>
  expect
    .poll(
      async () => {
        const found = await look(installed);
        if (found.length > 0) await installed.nudge?.();
        return found;
      },
      { timeout: installed.withinMs, interval: 1_000 },
    )
    .toEqual([]);

/** Declares a test that a complete installation has no findings, and one test for each fault that can be made here. */
export function declareMisconfigurations(
  place: Place,
  installedOf: () => Installed,
  ways: readonly Misconfiguration[] = misconfigurations,
): void {
  test('a complete installation has no findings', async () => {
    const installed = installedOf();
    await untilNoFindings(installed);
    const installation = await readInstallation(installed.cluster, Date.now());
    expect(findingLines(findingsOf(installation), installation)).toEqual([
      expect.stringMatching(/^Checked \d+ installed objects and 0 images\. Nothing found\.$/),
    ]);
  });

  for (const one of ways) {
    const why = one.not?.[place];
    if (why) console.warn(`skipped: "${one.name}": ${why}`);
    test.skipIf(why)(`${one.name} is found, with its remedy`, async () => {
      const installed = installedOf();
      const { knative } = installed;
      const { kube } = installed.cluster;
      const policy = await keptPolicy(kube);
      const isMeant = ({ name, remedy, expected, found }: Finding) =>
        one.finding.test(name) && one.remedy.test(remedy) && expected !== '' && found !== '';
      await one.break(kube, knative);
      try {
        await expect
          .poll(() => look(installed), { timeout: installed.withinMs, interval: 500 })
          .toSatisfy((found: Finding[]) => found.some(isMeant));
      } finally {
        await one.mend?.(kube, knative);
        await installed.putBack(await missingOf(installed));
        await restorePolicy(kube, policy);
      }
      await untilNoFindings(installed);
    });
  }
}

/** The manifests whose objects are missing or incomplete. */
async function missingOf({ cluster, manifests }: Installed): Promise<KubernetesObject[]> {
  const found = await Promise.all(manifests.map((manifest) => there(cluster, manifest)));
  return manifests.filter((manifest, index) => lackingIn(manifest, found[index], '') !== undefined);
}
