import { runOnOpenStack } from '../journeys/openstack/run.ts';
import { services } from '../journeys/openstack/services.ts';
import { stories } from '../journeys/openstack/shared.ts';

runOnOpenStack('what all namespaces share of OpenStack', stories, services, false);
