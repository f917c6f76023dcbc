import { declareGateway } from './declare-gateway.ts';

declareGateway({ awayForMs: 5 * 60_000 });
