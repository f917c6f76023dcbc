import { stories } from '../stories/openstack/machines-life.ts';
import { runOnOpenStack } from '../stories/openstack/run.ts';
import { services } from '../stories/openstack/services.ts';

runOnOpenStack('a machine on OpenStack', stories, services);
