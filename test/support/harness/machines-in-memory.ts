import { type Batch, type ChangeVerb, type FunctionDeclaration, noEvents } from '../../../shared/function.ts';
import { diskImageFact } from '../../../shared/images/facts.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { aVirtualMachine } from '../builders/machines.ts';
import { memoryKube } from './memory-kube.ts';

/**
 * Machines in memory, beside a function that hears of them and of their images. `tell` observes after facts, each a name and its image,
 * `change` after events of machines; `requests` and `read` are what all that was observed asked for and read.
 */
export function machinesInMemory<Observed>(declaration: FunctionDeclaration<Observed>) {
  const namespace = 'vmdi-farm';
  const kube = memoryKube();
  const requests: string[] = [];
  const read = { bytes: 0 };
  const counting = async <T>(request: string, reading: Promise<T>): Promise<T> => {
    requests.push(request);
    const found = await reading;
    read.bytes += JSON.stringify(found ?? null).length;
    return found;
  };
  const list: Kube['list'] = (resource, options) =>
    counting(`list ${resource.kind} ${options?.fieldSelector ?? ''}`, kube.list(resource, options));
  const counted: Kube = {
    ...kube,
    get: (resource, ref) => counting(`get ${resource.kind}`, kube.get(resource, ref)),
    list,
    async *pages(resource, options) {
      yield { items: await list(resource, options), resourceVersion: '1' };
    },
  };
  const { apiVersion, kind, spec } = aVirtualMachine();
  const create = (name: string, image: string, phase?: string, more: Partial<VirtualMachine['spec']> = {}) =>
    kube.create(VirtualMachine, {
      ...{ apiVersion, kind, metadata: { namespace: 'lab', name }, status: { phase } },
      spec: { ...spec, ...more, vmDiskImageRef: { namespace, name: image } },
    });
  const observe = (batch: Partial<Batch>) => {
    const context = {
      kube: counted,
      nowMs: Date.now(),
      refusals: new Map(),
      gracePeriodMs: 0,
      openClouds: () => [] as never,
    };
    return declaration.observe(context, { ...noEvents, ...batch });
  };
  const change = (...events: readonly (readonly [machine: string, verb?: ChangeVerb])[]) =>
    observe({
      subjects: events.map(([name, verb]) => ({ apiVersion, kind, namespace: 'lab', name, ...(verb && { verb }) })),
    });
  const tell = (...facts: readonly (readonly [fact: string, image: string])[]) => {
    const messages = facts.map(([fact, name]) => ({
      ...{ id: `${fact} ${name}`, type: diskImageFact(fact), source: '/test', time: undefined },
      data: { namespace, name },
    }));
    return observe({ messages });
  };
  return { requests, read, create, change, tell };
}
