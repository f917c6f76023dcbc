import { stories } from '../journeys/openstack/adoption.ts';
import { runOnOpenStack } from '../journeys/openstack/run.ts';
import { services } from '../journeys/openstack/services.ts';

runOnOpenStack('adoption on OpenStack', stories, services);
