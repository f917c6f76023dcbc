import { declareGateway } from './declare-gateway.ts';

declareGateway();
