import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import { Broker, type Timers } from './broker.ts';
import { simulateCdi } from './cdi.ts';
import { collectGarbage } from './garbage-collector.ts';
import { simulateKubevirt } from './kubevirt.ts';
import { emptyNamespaces } from './namespaces.ts';
import { simulateSnapshotter } from './snapshotter.ts';
import { StoreWriter } from './store-writer.ts';
import { type Surroundings, Workers } from './workers.ts';

interface System extends Omit<Surroundings, 'publish'> {
  /** Loses all events but those of timers. */
  isDeaf: boolean;
  timers?: Timers;
  /** Half of how long the import of a DataVolume takes. */
  halfMsOf?(dataVolume: ApiObject): number;
}

/** Starts the functions, their Broker, and the simulated controllers of a cluster. */
export function startSystem(
  declarations: readonly FunctionDeclaration[],
  { isDeaf, timers, halfMsOf, ...around }: System,
): Broker {
  const { state, scheduler, faults } = around;
  const workers: Workers = new Workers(declarations, {
    ...around,
    publish: (event, from) => broker.posted(event, from),
  });
  const broker = new Broker(declarations, {
    ...{ scheduler, faults, isDeaf, deliver: workers.deliver },
    ...(timers ? { timers } : {}),
  });
  const writer = (by: string) => new StoreWriter(by, around);
  const listeners = [
    collectGarbage(writer('garbage-collector')),
    emptyNamespaces(writer('namespace-controller')),
    simulateCdi(writer('cdi'), faults, halfMsOf),
    simulateSnapshotter(writer('snapshotter'), faults),
    simulateKubevirt(writer('kubevirt'), faults),
    broker.changed.bind(broker),
  ];
  state.store.observe((event) => {
    for (const listen of listeners) listen(event);
  });
  return broker;
}
