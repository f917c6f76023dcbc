import { stories } from '../journeys/openstack/credentials.ts';
import { runOnOpenStack } from '../journeys/openstack/run.ts';
import { services } from '../journeys/openstack/services.ts';

runOnOpenStack('credentials for OpenStack', stories, services);
