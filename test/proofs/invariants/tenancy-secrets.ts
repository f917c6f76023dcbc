import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import type { Reconcile } from './history.ts';
import { operatorNamespace } from './plain-rules.ts';

/** What a function reads of Secrets, by its name; those that are absent read none. */
const fixed: Readonly<Record<string, RegExp>> = {
  preload: new RegExp(`^${operatorNamespace}/publication-keys$`),
  'compose-workspace': new RegExp(
    `^(${operatorNamespace}/workspace-key|ws-[^/]+/(ansible-credentials|ssh-host-keys))$`,
  ),
  'provision-server': /^[^/]+\/openstack-credentials$/,
  'provision-network': /^[^/]+\/openstack-credentials$/,
  'provision-volume': /^[^/]+\/openstack-credentials$/,
  'keep-account': /^[^/]+\/openstack-credentials$/,
  'retire-project': new RegExp(`^${operatorNamespace}/openstack-credentials$`),
};

/** Judges reads of Secrets: what an image or machine names in its own namespace, or what a function is for. */
export function secretsJudge(reconciles: readonly Reconcile[]) {
  const ofImages = new Set<string>();
  const named = { 'start-sync': ofImages, 'inspect-source': ofImages, 'provision-vm': new Set<string>() };
  const mayRead = (by: string, key: string) =>
    (by in named && named[by as keyof typeof named].has(key)) || (fixed[by]?.test(key) ?? false);
  return {
    image({ metadata: { namespace }, spec }: VMDiskImage): undefined {
      ofImages.add(keyOf({ namespace, name: spec.secretRef ?? '' }));
    },
    machine({ metadata: { namespace, name }, spec }: VirtualMachine): undefined {
      const secrets = [...(spec.users ?? []).map((user) => user.passwordSecretRef), spec.sshHostKeySecretRef];
      for (const one of [`${name}-cloud-init`, ...secrets.map((secret) => secret?.name ?? '')])
        named['provision-vm'].add(keyOf({ namespace, name: one }));
    },
    end: (): string[] =>
      reconciles.flatMap(({ by, asked }) => {
        const reads = asked.filter(({ kind }) => kind === 'Secret');
        const lists = by === 'keep-account' ? [] : reads.filter(({ verb }) => verb === 'list');
        const foreign = reads.filter(({ verb, of }) => verb === 'get' && !mayRead(by, of));
        return [
          ...lists.map(({ of }) => `${by} listed Secrets of ${of || 'all namespaces'}`),
          ...foreign.map(
            ({ of }) => `${by} read Secret ${of}, which no image or machine there names, and which it is not for`,
          ),
        ];
      }),
  };
}
