import { hash } from 'node:crypto';

/**
 * The MAC address of a machine on a network: the same for the same names, so that a machine that is created again keeps the
 * address its network gave it. Locally administered, unicast.
 */
export function macAddressOf(namespace: string, machine: string, network: string): string {
  const digest = hash('sha256', [namespace, machine, network].join('\u0000'));
  return `02:${(digest.slice(0, 10).match(/../g) ?? []).join(':')}`;
}
