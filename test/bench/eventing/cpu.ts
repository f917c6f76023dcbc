import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as z from 'zod';

/** The parts of a Broker that events pass through, by the names of their containers. */
export const parts = ['ingress', 'dispatcher', 'filter'] as const;
type Part = (typeof parts)[number];

/** Processor seconds since each part's start, over all its pods. */
export type CpuSeconds = Readonly<Record<Part, number>>;

const Summary = z.object({
  pods: z.array(
    z.object({
      podRef: z.object({ namespace: z.string() }),
      containers: z.array(
        z.object({ name: z.string(), cpu: z.object({ usageCoreNanoSeconds: z.number().default(0) }).optional() }),
      ),
    }),
  ),
});

const kubectl = promisify(execFile);

/** Asks the kubelets of these nodes, who look at that moment where they are asked for processor and memory only. */
export async function cpuOfEventing(nodes: readonly string[]): Promise<CpuSeconds> {
  const used = { ingress: 0, dispatcher: 0, filter: 0 };
  for (const node of nodes) {
    const path = `/api/v1/nodes/${node}/proxy/stats/summary?only_cpu_and_memory=true`;
    const { stdout } = await kubectl('kubectl', ['get', '--raw', path], { maxBuffer: 64 * 2 ** 20 });
    const { pods } = Summary.parse(JSON.parse(stdout));
    for (const { podRef, containers } of pods) {
      if (podRef.namespace !== 'knative-eventing') continue;
      for (const { name, cpu } of containers) {
        const part = parts.find((known) => known === name);
        if (part) used[part] += (cpu?.usageCoreNanoSeconds ?? 0) / 1e9;
      }
    }
  }
  return used;
}

export const cpuBetween = (before: CpuSeconds, after: CpuSeconds): CpuSeconds => ({
  ingress: after.ingress - before.ingress,
  dispatcher: after.dispatcher - before.dispatcher,
  filter: after.filter - before.filter,
});
