import { stories } from '../journeys/openstack/machines-life.ts';
import { declareOpenStack } from './declare-openstack.ts';

declareOpenStack(stories);
