import { fileURLToPath } from 'node:url';
import { kubectl } from './kubectl.ts';

/**
 * Takes away what the stories brought to a cluster that stays: machines, then images, while the functions are there that let
 * them go; Triggers one by one (several at once leave dead subscribers in the channel, knative/eventing#8317); then all else,
 * our definitions last. Definitions of others stay.
 */
const operator = ['--namespace', 'sync-operator'];
const namespaces = ['lab', 'vmdi-farm'];
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
  ...own,
  ...['virtualmachines.kubevirt.io', 'virtualmachineinstances.kubevirt.io', 'datavolumes.cdi.kubevirt.io'],
  ...['volumesnapshots.snapshot.storage.k8s.io', 'persistentvolumeclaims', 'pods'],
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
const left = await kubectl('delete', 'customresourcedefinitions', ...own, '--ignore-not-found');
if (left.code !== 0) console.error(left.err);
