import { stories as events } from '../stories/openstack/events.ts';
import { stories } from '../stories/openstack/networks.ts';
import { runOnOpenStack } from '../stories/openstack/run.ts';
import { services } from '../stories/openstack/services.ts';

runOnOpenStack('networks on OpenStack', [...stories, ...events], services);
