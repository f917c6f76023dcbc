import { stories } from '../stories/openstack/machines-life.ts';
import { declareOpenStack } from './declare-openstack.ts';

declareOpenStack(stories);
