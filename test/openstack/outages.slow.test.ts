import { stories } from '../journeys/openstack/outages.ts';
import { runOnOpenStack } from '../journeys/openstack/run.ts';
import { services } from '../journeys/openstack/services.ts';

runOnOpenStack('outages of OpenStack', stories, services, false);
