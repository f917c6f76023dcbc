import type { Action, TraceOf } from '../actions.ts';
import { KupenStackMachine } from '../kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../kinds/kupenstack/virtual-network.ts';
import { Volume } from '../kinds/kupenstack/volume.ts';

interface OnCloud {
  apiVersion: string;
  kind: string;
  metadata: { uid: string };
  status?: { phase?: string | undefined } | undefined;
}

/** The action in the trace of the life of what it is done for; as it is where that does not live on OpenStack. */
export function traced(object: OnCloud, action: Action): Action {
  const trace = traceOnCloud(object);
  return trace ? { ...action, trace } : action;
}

/** The `trace` of every action done for an object that lives on OpenStack. */
export function traceOnCloud({ apiVersion, kind, metadata, status }: OnCloud): TraceOf | undefined {
  if (apiVersion !== KupenStackMachine.apiVersion) return undefined;
  const life = { uid: metadata.uid, ...(status?.phase ? { phase: status.phase } : {}) };
  if (kind === KupenStackMachine.kind) return { machine: life };
  if (kind === VirtualNetwork.kind) return { network: life };
  return kind === Volume.kind ? { volume: life } : undefined;
}
