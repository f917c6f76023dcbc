import { runOnOpenStack } from '../stories/openstack/run.ts';
import { services } from '../stories/openstack/services.ts';
import { stories } from '../stories/openstack/shared.ts';

runOnOpenStack('what all namespaces share of OpenStack', stories, services, false);
