import { stories } from '../stories/openstack/images.ts';
import { runOnOpenStack } from '../stories/openstack/run.ts';
import { services } from '../stories/openstack/services.ts';

runOnOpenStack('images on OpenStack', stories, services);
