import type { Policy } from '../../shared/policy.ts';

/** A machine or container cluster that the policy may leave out. */
interface Ignorable {
  ignoreOnDeploy?: boolean | undefined;
}

/** It is not made at all. */
export const isSkipped = ({ ignoreOnDeploy }: Ignorable, { values }: Policy) =>
  ignoreOnDeploy === true && values.ignoreOnDeploy === 'Skip';

/** It is made and not started. */
export const isHalted = ({ ignoreOnDeploy }: Ignorable, { values }: Policy) =>
  ignoreOnDeploy === true && values.ignoreOnDeploy === 'Halt';

export const skippedByPolicy =
  "Not made, because its ignoreOnDeploy is true and the policy's ignoreOnDeploy says Skip.";
