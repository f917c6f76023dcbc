import type { WorkspaceSpec } from '../../shared/kinds/pelotech/workspace.ts';
import { withAddresses } from './network/bridge.ts';

/** Illegal and duplicate names. */
export function nameFaults({ vms = [], containerClusters = [], volumes = [], networks = [] }: WorkspaceSpec): string[] {
  const lists = { vms, containerClusters, volumes, networks };
  const illegal = Object.entries(lists).flatMap(([field, list]) => list.flatMap(({ name }) => notALabel(field, name)));
  const twice = Object.entries(lists).flatMap(([field, list]) =>
    duplicatesOf(list.map(({ name }) => name)).map((name) => describeTwice(field, name)),
  );
  const machines = new Set(vms.map(({ name }) => name));
  const both = containerClusters
    .filter(({ name }) => machines.has(name))
    .map(({ name }) => `containerClusters: expected a name that no machine has, found ${name}.`);
  const networkNames = new Set(networks.map(({ name }) => name));
  const shadowed = networks
    .filter(({ name }) => networkNames.has(withAddresses(name)))
    .map(
      ({ name }) =>
        `networks: expected no network ${withAddresses(name)} beside ${name}, whose definition for containers is called so.`,
    );
  // provision-vm calls them so.
  const disks = new Set(vms.map(({ name }) => `${name}-root`));
  const onDisks = volumes
    .filter(({ name }) => disks.has(name))
    .map(({ name }) => `volumes: expected a name that no root disk has, found ${name}.`);
  return [...illegal, ...twice, ...both, ...shadowed, ...onDisks];
}

/** What Kubernetes takes for the name of a Namespace, a host or a container (RFC 1123 label). */
const isLabel = (name: string) => name.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name);

export const notALabel = (field: string, name: string): string[] =>
  isLabel(name)
    ? []
    : [`${field}: expected a name of at most 63 lower case letters, digits and "-", found ${JSON.stringify(name)}.`];

export const describeTwice = (field: string, name: string) => `${field}: expected each name once, found ${name} twice.`;

/** What there is to choose from, behind what was expected. */
export const describeAmong = (names: Iterable<string>) => {
  const all = [...names];
  return all.length > 0 ? ` (${all.slice(0, 8).join(', ')}${all.length > 8 ? ', …' : ''})` : ', which has none';
};

export function duplicatesOf(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return [...new Set(values.filter((value) => seen.size === seen.add(value).size))];
}
