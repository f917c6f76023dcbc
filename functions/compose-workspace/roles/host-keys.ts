import { Secret, sshHostKeys, usedAsHostKey } from '../../../shared/kinds/core/secret.ts';
import type { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { Policy } from '../../../shared/policy.ts';
import { siteKeyIn } from '../../../shared/workspaces/site-key.ts';
import type { Child } from '../child.ts';
import type { Site } from '../observed.ts';
import { controlAddressOf } from './inventory.ts';
import { deployRolesOf } from './roles-of-machine.ts';
import { derivedKey } from './ssh-key.ts';

/** The Secret in the workspace's namespace with the private host key of each machine that has deploy roles, by its name. No Job mounts it. */
export const hostKeysName = sshHostKeys;

export type HostKeys = ReturnType<typeof hostKeysOf>;

/** The host keys by machine; none while the site has no key. A machine that is created again has the same. */
export function hostKeysOf({ metadata, spec }: Workspace, site: Pick<Site, 'key'> | undefined) {
  const key = siteKeyIn(site?.key);
  if (key === undefined) return [];
  return (spec.vms ?? [])
    .filter((vm) => deployRolesOf(vm).length > 0)
    .map((vm) => ({ vm, key: derivedKey(key, 'ssh host', metadata.uid, vm.name) }));
}

/** The Secret, as the machines name it. */
export const hostKeysFor = (keys: HostKeys): Child => ({
  resource: Secret,
  name: hostKeysName,
  labels: usedAsHostKey,
  fields: {
    type: 'Opaque',
    data: Object.fromEntries(keys.map(({ vm, key }) => [vm.name, Buffer.from(key.privateKey).toString('base64')])),
  },
});

/** The file by which ssh knows the machines, at the addresses of the inventory. */
export function knownHosts(keys: HostKeys, { values }: Policy): string {
  return keys
    .flatMap(({ vm, key }) => {
      const address = controlAddressOf(vm, values.ansibleControlNetwork);
      return address ? [`${address} ${key.publicKey}\n`] : [];
    })
    .join('');
}
