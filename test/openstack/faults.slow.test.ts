import { stories } from '../journeys/openstack/faults.ts';
import { runOnOpenStack } from '../journeys/openstack/run.ts';
import { services } from '../journeys/openstack/services.ts';

runOnOpenStack('faults on OpenStack', stories, services);
