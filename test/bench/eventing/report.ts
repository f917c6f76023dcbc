import type { Look } from '../../../deploy/terminal/paint.ts';
import { tableLines } from '../../../deploy/terminal/table.ts';
import type { Machine } from '../machine.ts';
import type { MeasuredBroker } from './brokers.ts';
import { parts } from './cpu.ts';
import type { Round } from './load.ts';

export interface CostResult {
  machine: Machine;
  alone: number;
  burst: number;
  inFlight: number;
  rounds: readonly (MeasuredBroker & Round)[];
}

/** One Broker's figures over all its rounds. */
interface Cost {
  others: number;
  /** Processor milliseconds for each event, of all parts and of each. */
  cpuMs: number;
  cpuMsOf: number[];
  p50: number;
  p99: number;
  answerP50: number;
  eventsPerSecond: number;
}

/** The figures of each kind of Broker, and beside each its ratio to the Broker without other Triggers. */
export function costReport({ machine, alone, burst, inFlight, rounds }: CostResult, look: Look): string[] {
  const [before, after] = machine.load.map((load) => load.toFixed(1));
  return [
    `On ${machine.processors}, Node ${machine.node}, load ${before} before and ${after} after.`,
    `Each round and Broker: ${alone} events one at a time (latency), then ${burst} with ${inFlight} in flight (processor time).`,
    ...[false, true].flatMap((isAsync) => [
      '',
      isAsync ? 'messaging.knative.dev/async-handler: "true"' : 'Synchronous, as without an annotation',
      ...table(costsOf(rounds.filter((round) => round.isAsync === isAsync)), look),
    ]),
  ];
}

function costsOf(rounds: CostResult['rounds']): Cost[] {
  const counts = [...new Set(rounds.map(({ others }) => others))].sort((a, b) => a - b);
  return counts.map((others) =>
    costOf(
      others,
      rounds.filter((round) => round.others === others),
    ),
  );
}

function costOf(others: number, rounds: readonly Round[]): Cost {
  const events = sum(rounds.map((round) => round.events));
  const cpuMsOf = parts.map((part) => (sum(rounds.map(({ cpu }) => cpu[part])) * 1000) / events);
  const latencies = rounds.flatMap(({ latenciesMs }) => latenciesMs);
  return {
    others,
    cpuMs: sum(cpuMsOf),
    cpuMsOf,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    answerP50: percentile(
      rounds.flatMap(({ answersMs }) => answersMs),
      0.5,
    ),
    eventsPerSecond: (events * 1000) / sum(rounds.map(({ tookMs }) => tookMs)),
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** By nearest rank. */
function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

function table(costs: readonly Cost[], look: Look): string[] {
  const right = (title: string) => ({ title, align: 'right' }) as const;
  const [first] = costs;
  const beside = (cost: Cost, of: (cost: Cost) => number, digits: number) =>
    `${of(cost).toFixed(digits)}  ×${(of(cost) / (first ? of(first) : Number.NaN)).toFixed(2)}`;
  return tableLines(
    [
      right('OTHERS'),
      right('CPU s/1000 EVENTS'),
      right('INGRESS DISPATCHER FILTER'),
      right('P50 ms'),
      right('P99 ms'),
      right('ANSWER P50 ms'),
      right('EVENTS/s'),
    ],
    costs.map((cost) => [
      String(cost.others),
      beside(cost, ({ cpuMs }) => cpuMs, 2),
      cost.cpuMsOf.map((ms) => ms.toFixed(2)).join('  '),
      beside(cost, ({ p50 }) => p50, 1),
      beside(cost, ({ p99 }) => p99, 1),
      beside(cost, ({ answerP50 }) => answerP50, 1),
      cost.eventsPerSecond.toFixed(0),
    ]),
    look,
  );
}
