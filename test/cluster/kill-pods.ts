import { readdir, readFile } from 'node:fs/promises';
import { kubectlOrFail } from './kubectl.ts';

/**
 * Kills at once, as a node that dies would, the pods that a selector finds: each of their processes that runs on this machine
 * (SIGKILL), then the pods themselves by force, so that others take their places without the kubelet's back-off.
 */
export const killPods = (namespace: string, selector: string) => async (): Promise<void> => {
  const which = ['pods', '-n', namespace, '-l', selector];
  const uids = (await kubectlOrFail('get', ...which, '-o', 'jsonpath={.items[*].metadata.uid}')).split(' ');
  for (const pid of await processesOf(uids.filter(Boolean))) killIfThere(pid);
  await kubectlOrFail('delete', ...which, '--force', '--grace-period=0', '--wait=false');
};

/** The processes in the cgroups of these pods, which bear the pods' uids in their names. */
async function processesOf(uids: readonly string[]): Promise<number[]> {
  const marks = uids.flatMap((uid) => [`pod${uid}`, `pod${uid.replaceAll('-', '_')}`]);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const cgroup = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '');
      return marks.some((mark) => cgroup.includes(mark)) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}
