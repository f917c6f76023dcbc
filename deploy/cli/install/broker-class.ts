import { type AnyObject, Broker, formatObject } from './kinds.ts';

const annotation = 'eventing.knative.dev/broker.class';

/** The class of a Broker, which says what keeps its events. */
export const classOf = ({ metadata }: AnyObject) => metadata.annotations?.[annotation] ?? 'MTChannelBasedBroker';

export const isBroker = ({ kind, apiVersion }: AnyObject) => kind === Broker.kind && apiVersion === Broker.apiVersion;

/** Why manifests cannot be applied to a cluster with these Brokers: Knative refuses another class, when functions already send elsewhere. */
export function classFault(installed: readonly AnyObject[], wanted: readonly AnyObject[]): string | undefined {
  for (const broker of wanted.filter(isBroker)) {
    const found = installed.find(({ metadata }) => metadata.name === broker.metadata.name);
    if (!found || classOf(found) === classOf(broker)) continue;
    return `expected ${formatObject(broker)} to stay of class ${classOf(found)}, found ${classOf(broker)} in the overlay: the class of a Broker cannot be changed. Nothing was changed. To change it: ot-functions uninstall, which leaves machines and images, then ot-functions install with the overlay.`;
  }
  return undefined;
}
