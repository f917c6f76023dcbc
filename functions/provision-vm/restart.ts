import type { Finding } from '../../shared/rules/machine-status.ts';
import { rootDiskName } from './children.ts';
import { isOlderThan } from './cloud-init.ts';
import type { Observed, Obstacle } from './observed.ts';

type Seen = Pick<Observed, 'machine' | 'dataVolume' | 'secret' | 'kubeVirtMachine'>;

/** Whether what runs is what the spec says, and what to do where it is not; undefined before there is a KubeVirt machine. */
export function restartFinding(
  { machine, dataVolume, secret, kubeVirtMachine }: Seen,
  { fault, isBeingMade }: { fault: Obstacle | undefined; isBeingMade: boolean },
): Finding | undefined {
  const upToDate = { type, status: 'False', reason: 'UpToDate', message: 'What runs is what the spec says.' } as const;
  if (!kubeVirtMachine) return isBeingMade ? upToDate : undefined;
  const { namespace, name } = machine.metadata;
  if (fault) {
    return needed(fault.reason, `The spec is not carried through, and what was there before goes on. ${fault.message}`);
  }
  const isOutdated = secret && dataVolume && isOlderThan(secret, dataVolume);
  const asked = kubeVirtMachine.status?.conditions.some(
    ({ type, status }) => type === 'RestartRequired' && status === 'True',
  );
  const restart = `Restart the machine (virtctl restart ${name} -n ${namespace}) for its changed spec to count.`;
  if (isOutdated) {
    const once = `Users, host name and addresses changed after the first start, and cloud-init applies them once for each disk: change them in the guest too, or delete DataVolume ${namespace}/${rootDiskName(name)} and restart for a new disk, without what is on this one.`;
    return needed('CloudInitChanged', asked ? `${restart} ${once}` : once);
  }
  if (asked) return needed('SpecChanged', restart);
  return upToDate;
}

const type = 'RestartRequired';

const needed = (reason: string, message: string): Finding => ({
  type,
  status: 'True',
  reason,
  message,
});
