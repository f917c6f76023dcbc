import { whatIsInTheWay } from './installation.ts';

/** Exits with 1 if the stories may not run: at their end they delete all that they use. */
const found = await whatIsInTheWay();
if (found.length > 0) {
  console.error(
    `expected a cluster with Knative and nothing of ours, CDI's, the snapshotter's or KubeVirt's, for the stories bring and take away all of that; found ${found.join(', ')}; take a cluster that is made for tests`,
  );
  process.exitCode = 1;
}
