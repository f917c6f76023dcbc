import { stories } from '../journeys/openstack/images.ts';
import { runOnOpenStack } from '../journeys/openstack/run.ts';
import { services } from '../journeys/openstack/services.ts';

runOnOpenStack('images on OpenStack', stories, services);
