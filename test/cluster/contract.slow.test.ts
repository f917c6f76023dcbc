import { declareContract } from './declare-contract.ts';

declareContract(() => true);
