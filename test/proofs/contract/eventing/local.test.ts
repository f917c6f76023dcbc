import { describe } from 'vitest';
import { eventingContract } from './contract.ts';
import { openLocalWorld } from './local-world.ts';

describe('the local eventing keeps the contract:', () => {
  eventingContract(openLocalWorld, { isLocal: true });
});
