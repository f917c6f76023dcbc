import { stories } from '../stories/openstack/adoption.ts';
import { runOnOpenStack } from '../stories/openstack/run.ts';
import { services } from '../stories/openstack/services.ts';

runOnOpenStack('adoption on OpenStack', stories, services);
