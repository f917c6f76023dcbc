import { stories } from '../stories/openstack/changes.ts';
import { runOnOpenStack } from '../stories/openstack/run.ts';
import { services } from '../stories/openstack/services.ts';

runOnOpenStack('changes on OpenStack', stories, services);
