import { fileURLToPath } from 'node:url';
import { kubectl } from './kubectl.ts';

/**
 * Takes away what the stories brought to a cluster that stays: workspaces, machines, then images, while the functions are installed
 * that let them go; Triggers one by one (several at once leave dead subscribers in the channel, knative/eventing#8317); then all else,
 * our definitions last. Definitions of others stay.
 */
const operator = ['--namespace', 'sync-operator'];
const workspaces = 'workspaces.pelotech.ot';
await kubectl('delete', workspaces, '--all', '--ignore-not-found', '--timeout=180s');
// Those of workspaces that did not go.
const ofWorkspaces = [
  'namespaces',
  '--selector',
  'pelotech.ot/workspace-uid',
  '--output=jsonpath={.items[*].metadata.name}',
];
const left = await kubectl('get', ...ofWorkspaces);
const namespaces = ['lab', 'vmdi-farm', ...left.out.split(' ').filter(Boolean)];
const own = ['virtualmachines.pelotech.ot', 'vmdiskimages.pelotech.ot'];
for (const kind of own) {
  for (const namespace of namespaces)
    await kubectl('delete', kind, '--all', '--namespace', namespace, '--ignore-not-found', '--timeout=60s');
}
const { out } = await kubectl('get', 'triggers', ...operator, '--output=name');
for (const trigger of out.split('\n').filter(Boolean)) await kubectl('delete', trigger, ...operator, '--wait=true');
const overlay = fileURLToPath(new URL('overlays/serving', import.meta.url));
await kubectl('delete', '-k', overlay, '--ignore-not-found', '--wait=true');
// A story that was cut off leaves what its simulators, which ended with it, would have let go.
const held = [
  workspaces,
  ...own,
  ...['virtualmachines.kubevirt.io', 'virtualmachineinstances.kubevirt.io', 'datavolumes.cdi.kubevirt.io'],
  ...[
    'volumesnapshots.snapshot.storage.k8s.io',
    'persistentvolumeclaims',
    'pods',
    'subnets.kubeovn.io',
    'vpcs.kubeovn.io',
  ],
];
const free = ['--type=merge', '--patch={"metadata":{"finalizers":null}}'];
for (const kind of held) {
  for (const namespace of namespaces) {
    await kubectl('delete', kind, '--all', '--namespace', namespace, '--wait=false');
    const { out: names } = await kubectl('get', kind, '--namespace', namespace, '--output=name');
    for (const name of names.split('\n').filter(Boolean))
      await kubectl('patch', name, '--namespace', namespace, ...free);
  }
}
await kubectl('delete', 'namespaces', ...namespaces, 'sync-operator', '--ignore-not-found', '--wait=true');
const definitions = await kubectl('delete', 'customresourcedefinitions', workspaces, ...own, '--ignore-not-found');
if (definitions.code !== 0) console.error(definitions.err);
