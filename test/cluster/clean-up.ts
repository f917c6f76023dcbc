import { fileURLToPath } from 'node:url';
import { kubectl } from './kubectl.ts';

/**
 * Takes away what the stories brought to a cluster that stays: Triggers one by one (several at once leave dead subscribers
 * in the channel, knative/eventing#8317), then all else, our definitions last. Definitions of others stay.
 */
const operator = ['--namespace', 'sync-operator'];
const { out } = await kubectl('get', 'triggers', ...operator, '--output=name');
for (const trigger of out.split('\n').filter(Boolean)) await kubectl('delete', trigger, ...operator, '--wait=true');
const overlay = fileURLToPath(new URL('overlays/serving', import.meta.url));
await kubectl('delete', '-k', overlay, '--ignore-not-found', '--wait=true');
await kubectl('delete', 'namespaces', 'lab', 'sync-operator', 'vmdi-farm', '--ignore-not-found', '--wait=true');
const own = ['virtualmachines.pelotech.ot', 'vmdiskimages.pelotech.ot'];
const left = await kubectl('delete', 'customresourcedefinitions', ...own, '--ignore-not-found');
if (left.code !== 0) console.error(left.err);
