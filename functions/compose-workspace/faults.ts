import type { WorkspaceSpec } from '../../shared/kinds/pelotech/workspace.ts';
import { clusterFaults } from './containers/faults.ts';
import { machineFaults } from './machines/faults.ts';
import { nameFaults } from './names.ts';
import { networkFaults } from './network/faults.ts';
import { roleFaults } from './roles/faults.ts';

/** Everything that is wrong with a spec, one sentence each. All faults are reported together, and nothing is made. */
export const faultsOf = (spec: WorkspaceSpec, provider: 'kube-ovn' | 'bridge'): string[] => [
  ...new Set([
    ...nameFaults(spec),
    ...networkFaults(spec, provider),
    ...machineFaults(spec),
    ...roleFaults(spec),
    ...clusterFaults(spec, provider),
  ]),
];
