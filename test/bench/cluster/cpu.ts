import { readdir, readFile } from 'node:fs/promises';

/** The parts of a cluster by the command lines of their processes, of which all run on this machine. The first match counts. */
const parts: readonly (readonly [RegExp, string])[] = [
  [/main\.mjs ([\w-]+)/, ''],
  [/\/kube-apiserver\b/, 'kube-apiserver'],
  [/\/etcd\b/, 'etcd'],
  [/broker-ingress/, 'Broker: ingress'],
  [/channel_dispatcher/, 'Broker: dispatcher'],
  [/broker-filter/, 'Broker: filter'],
  [/serving-activator/, 'Serving: activator'],
  [/serving-queue/, 'Serving: queue-proxies'],
  [/ingress\.mjs/, 'Serving: ingress'],
  [/receive_adapter|mtping/, 'sources'],
  [/driver\.mjs|floor\.mjs/, 'bench and floor'],
  [/\/kube|containerd|\/knative-|\/serving-|\/coredns/, 'rest of the cluster'],
];

/** What a process has used so far. */
interface Used {
  part: string;
  seconds: number;
}

/** /proc counts in hundredths of a second on every Linux (USER_HZ). */
const ticksPerSecond = 100;

/** The CPU that each process of the cluster has used so far, by its id and start. */
export async function cpuSoFar(): Promise<ReadonlyMap<string, Used>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => usedBy(pid).catch(() => undefined)));
  return new Map(found.filter((one) => one !== undefined));
}

/** Undefined for a process of something else. Throws if it has ended. */
async function usedBy(pid: string): Promise<[string, Used] | undefined> {
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  const known = parts.find(([pattern]) => pattern.test(command));
  if (!known) return undefined;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may contain spaces; what follows it begins with the third field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, start] = [fields[11], fields[12], fields[19]];
  const part = known[1] || (known[0].exec(command)?.[1] ?? '');
  return [`${pid} ${start}`, { part, seconds: (Number(user) + Number(system)) / ticksPerSecond }];
}

/** CPU seconds by part between two readings; what a process used that had ended by the second is not known. */
export function cpuBetween(
  before: ReadonlyMap<string, Used>,
  after: ReadonlyMap<string, Used>,
): Readonly<Record<string, number>> {
  const seconds: Record<string, number> = {};
  for (const [key, { part, seconds: used }] of after)
    seconds[part] = (seconds[part] ?? 0) + used - (before.get(key)?.seconds ?? 0);
  return seconds;
}
