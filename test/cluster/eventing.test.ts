import { describe } from 'vitest';
import { eventingContract } from '../contract/eventing/contract.ts';
import { openRealWorld } from '../contract/eventing/real-world.ts';

describe('Knative Eventing keeps the contract:', () => {
  eventingContract(openRealWorld, { isLocal: false });
});
