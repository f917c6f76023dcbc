import { stories } from '../journeys/openstack/machines-life.ts';
import { runOnOpenStack } from '../journeys/openstack/run.ts';
import { services } from '../journeys/openstack/services.ts';

runOnOpenStack('a machine on OpenStack', stories, services);
