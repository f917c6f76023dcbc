import { whatIsInTheWay } from './installation.ts';

/** Ends with 1 where the stories may not be told: at their end all that they would have brought is taken away. */
const found = await whatIsInTheWay();
if (found.length > 0) {
  console.error(
    `expected a cluster with Knative and nothing of ours, CDI's, the snapshotter's or KubeVirt's, for the stories bring and take away all of that; found ${found.join(', ')}; take a cluster that is made for tests`,
  );
  process.exitCode = 1;
}
