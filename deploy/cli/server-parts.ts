import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { OnOpenStack } from './target.ts';

/** The existing networks and volumes that a machine on OpenStack names, in the order of its spec. */
export function partsOf<T extends OnOpenStack>({ metadata, spec }: KupenStackMachine, among: readonly T[]): T[] {
  const named = [
    ...spec.virtualNetworks.map((name) => ({ kind: 'VirtualNetwork', name })),
    ...spec.diskAttachments.map(({ name }) => ({ kind: 'Volume', name })),
  ];
  return named.flatMap(({ kind, name }) =>
    among.filter(
      (part) => part.kind === kind && part.metadata.namespace === metadata.namespace && part.metadata.name === name,
    ),
  );
}
