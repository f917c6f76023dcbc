import { describe } from 'vitest';
import { eventingContract } from '../proofs/contract/eventing/contract.ts';
import { openRealWorld } from '../proofs/contract/eventing/real-world.ts';

describe('Knative Eventing keeps the contract:', () => {
  eventingContract(openRealWorld, { isLocal: false });
});
