import { stories } from '../stories/openstack/outages.ts';
import { runOnOpenStack } from '../stories/openstack/run.ts';
import { services } from '../stories/openstack/services.ts';

runOnOpenStack('outages of OpenStack', stories, services, false);
