import { stories as events } from '../journeys/openstack/events.ts';
import { stories } from '../journeys/openstack/networks.ts';
import { runOnOpenStack } from '../journeys/openstack/run.ts';
import { services } from '../journeys/openstack/services.ts';

runOnOpenStack('networks on OpenStack', [...stories, ...events], services);
