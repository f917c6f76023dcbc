import type { KubeConfig } from '@kubernetes/client-node';
import type { ObjectStore } from '../../../deploy/local/object-store/object-store.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { type EventingBeside, startEventingBeside } from './eventing-beside.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type FunctionProcesses, startFunctionProcesses } from './function-processes.ts';

/** The functions that write images; the others write nothing without a machine. */
const names = ['start-sync', 'follow-sync', 'count-refs', 'prune'] as const;

/** The intervals of the timers. */
export const sweepMs = 1000;
export const auditMs = 2000;

/** An API server with CDI and snapshotter, without functions. */
export interface Bare {
  /** The API server, for the proxy. */
  config: KubeConfig;
  /** A client of the administrator. */
  kube: Kube;
  store: ObjectStore;
  namespace: string;
  /** A token of a function's ServiceAccount, which may do what the function declares. */
  tokenOf(name: string): Promise<string>;
}

/** The same with functions behind a proxy, and eventing. */
export interface SetUp extends Pick<Bare, 'kube' | 'store' | 'namespace'> {
  proxy: FaultProxy;
  beside: EventingBeside;
  processes: FunctionProcesses;
  close(): Promise<void>;
}

/** Adds the proxy, eventing, and a process for each function. */
export async function setUp({ config, kube, store, namespace, tokenOf }: Bare): Promise<SetUp> {
  const started: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const stop of started.splice(0).reverse()) await stop();
  };
  let processes: FunctionProcesses | undefined;
  try {
    const proxy = await startFaultProxy({ config, kill: async (name) => processes?.kill(name) });
    started.push(proxy.close);
    const beside = await startEventingBeside({
      kube,
      names,
      handler: (name) => processes?.handler(name),
      schedules: { sweep: '* * * * * *', audit: '*/2 * * * * *' },
    });
    started.push(beside.close);
    const tokens = new Map(await Promise.all(names.map(async (name) => [name, await tokenOf(name)] as const)));
    processes = await startFunctionProcesses({
      names,
      apiServerOf: (name) => ({ url: proxy.urlFor(name), token: tokens.get(name as (typeof names)[number]) ?? '' }),
      sink: beside.broker,
    });
    started.push(processes.close);
    return { kube, store, namespace, proxy, beside, processes, close };
  } catch (error) {
    await close();
    throw error;
  }
}
