import { stories } from '../journeys/openstack/changes.ts';
import { runOnOpenStack } from '../journeys/openstack/run.ts';
import { services } from '../journeys/openstack/services.ts';

runOnOpenStack('changes on OpenStack', stories, services);
