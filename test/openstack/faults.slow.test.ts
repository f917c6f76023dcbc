import { stories } from '../stories/openstack/faults.ts';
import { runOnOpenStack } from '../stories/openstack/run.ts';
import { services } from '../stories/openstack/services.ts';

runOnOpenStack('faults on OpenStack', stories, services);
