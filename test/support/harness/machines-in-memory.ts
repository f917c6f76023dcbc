import { type FunctionDeclaration, noEvents } from '../../../shared/function.ts';
import { diskImageFact } from '../../../shared/images/facts.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { aVirtualMachine } from '../builders/machines.ts';
import { memoryKube } from './memory-kube.ts';

/**
 * Machines in memory, beside a function that hears facts about their images. `tell` observes after facts, each a name and its image;
 * `requests` are those of all that was observed.
 */
export function machinesInMemory<Observed>(declaration: FunctionDeclaration<Observed>) {
  const namespace = 'vmdi-farm';
  const kube = memoryKube();
  const requests: string[] = [];
  const counted: Kube = {
    ...kube,
    get: (resource, ref) => {
      requests.push(`get ${resource.kind}`);
      return kube.get(resource, ref);
    },
    list: (resource, options) => {
      requests.push(`list ${resource.kind} ${options?.fieldSelector ?? ''}`);
      return kube.list(resource, options);
    },
  };
  const { apiVersion, kind, spec } = aVirtualMachine();
  const create = (name: string, image: string, phase: string) =>
    kube.create(VirtualMachine, {
      ...{ apiVersion, kind, metadata: { namespace: 'lab', name }, status: { phase } },
      spec: { ...spec, vmDiskImageRef: { namespace, name: image } },
    });
  const tell = (...facts: readonly (readonly [fact: string, image: string])[]) => {
    const messages = facts.map(([fact, name]) => ({
      ...{ id: `${fact} ${name}`, type: diskImageFact(fact), source: '/test', time: undefined },
      data: { namespace, name },
    }));
    const context = {
      kube: counted,
      nowMs: Date.now(),
      refusals: new Map(),
      gracePeriodMs: 0,
      openClouds: () => [] as never,
    };
    return declaration.observe(context, { ...noEvents, messages });
  };
  return { requests, create, tell };
}
