import { stories } from '../stories/openstack/credentials.ts';
import { runOnOpenStack } from '../stories/openstack/run.ts';
import { services } from '../stories/openstack/services.ts';

runOnOpenStack('credentials for OpenStack', stories, services);
