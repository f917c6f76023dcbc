import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionsUnderTest } from '../../proofs/contract/eventing/functions-under-test.ts';
import { eventBody, headersOf } from './brokers.ts';
import { type CpuSeconds, cpuBetween, cpuOfEventing } from './cpu.ts';

/** What one round of events through one Broker showed. */
export interface Round {
  /** From just before the POST to the matching function, one event at a time. */
  latenciesMs: number[];
  /** From just before the POST to the sender's answer, one event at a time. */
  answersMs: number[];
  /** Of the burst. */
  cpu: CpuSeconds;
  events: number;
  tookMs: number;
}

export interface LoadOptions {
  /** Where events for this Broker are posted. */
  url: string;
  broker: string;
  functions: FunctionsUnderTest;
  nodes: readonly string[];
  alone: number;
  burst: number;
  inFlight: number;
}

/** Sends events one at a time for the latency, then many at once for what they cost. */
export async function runRound(options: LoadOptions): Promise<Round> {
  const { functions, broker, alone, burst, nodes } = options;
  const latenciesMs: number[] = [];
  const answersMs: number[] = [];
  for (let index = 0; index < alone; index++) {
    const seen = functions.callsOf(broker).length;
    const fromMs = performance.now();
    await post(options);
    answersMs.push(performance.now() - fromMs);
    const calls = await functions.until(broker, ({ length }) => length > seen);
    latenciesMs.push((calls[seen]?.atMs ?? Number.NaN) - fromMs);
  }
  const before = await settledCpu(nodes);
  const seen = functions.callsOf(broker).length;
  const fromMs = performance.now();
  await postMany(options);
  await functions.until(broker, ({ length }) => length >= seen + burst);
  const tookMs = performance.now() - fromMs;
  const after = await settledCpu(nodes);
  return { latenciesMs, answersMs, cpu: cpuBetween(before, after), events: burst, tookMs };
}

async function postMany(options: LoadOptions) {
  let left = options.burst;
  const worker = async () => {
    while (left-- > 0) await post(options);
  };
  await Promise.all(Array.from({ length: options.inFlight }, worker));
}

async function post({ url, broker }: LoadOptions) {
  const response = await fetch(url, { method: 'POST', headers: headersOf(crypto.randomUUID()), body: eventBody });
  await response.arrayBuffer();
  if (response.status !== 202)
    throw new Error(`expected Broker ${broker} to answer 202, it answered ${response.status}`);
}

/** An asynchronous Broker may still be filtering for the others when the matching function has its last event. */
async function settledCpu(nodes: readonly string[]) {
  let last = await cpuOfEventing(nodes);
  for (;;) {
    await sleep(300);
    const now = await cpuOfEventing(nodes);
    const { ingress, dispatcher, filter } = cpuBetween(last, now);
    if (ingress + dispatcher + filter < 0.03) return now;
    last = now;
  }
}
