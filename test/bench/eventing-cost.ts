import * as z from 'zod';
import { optionsOf, UsageError, wholeNumber } from '../../deploy/terminal/arguments.ts';
import { lookOf } from '../../deploy/terminal/output.ts';
import { defineResource } from '../../shared/kinds/resource.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { type FunctionsUnderTest, startFunctions } from '../proofs/contract/eventing/functions-under-test.ts';
import { Namespace } from '../proofs/contract/eventing/objects.ts';
import { hostForPods, kubeFromEnvironment } from '../proofs/contract/eventing/real-world.ts';
import { type MeasuredBroker, makeBrokers, namesOf } from './eventing/brokers.ts';
import { type Round, runRound } from './eventing/load.ts';
import { costReport } from './eventing/report.ts';
import { loadNow, machineOf } from './machine.ts';

const help = `node test/bench/eventing-cost.ts [options]

Measures on a real cluster what a Trigger that does not match costs each event: processor seconds of the Broker's parts
and the latency of a Trigger that does match, as ratios to a Broker without any other Trigger, with and without the
annotation messaging.knative.dev/async-handler. Runs on a node of the cluster that KUBECONFIG names, with kubectl on
PATH, in a namespace of its own, for about five minutes.

Options
  --triggers LIST  how many Triggers do not match; 0,1,2,4,8,16 by default
  --rounds N       rounds over all Brokers, 3 by default
  --json           print the result as one JSON document
  --help           print this
`;

/** Few in flight: starved of processor, the dispatcher misses its liveness probe (1 s) and is killed with what it holds. */
const sizes = { alone: 150, burst: 500, inFlight: 4 };
const warmUp = { ...sizes, alone: 20, burst: 100 };

async function main(): Promise<number> {
  try {
    const options = optionsOf('node test/bench/eventing-cost.ts', process.argv.slice(2), {
      triggers: { type: 'string', default: '0,1,2,4,8,16' },
      rounds: { type: 'string', default: '3' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    });
    if (options.help) {
      process.stdout.write(help);
      return 0;
    }
    const counts = options.triggers.split(',').map((text) => wholeNumber('--triggers', text, 0, 999));
    const loadBefore = loadNow();
    const rounds = await measure(namesOf(counts), wholeNumber('--rounds', options.rounds, 0, 999));
    const result = { machine: machineOf(loadBefore), ...sizes, rounds };
    const lines = options.json ? [JSON.stringify(result)] : costReport(result, lookOf(process.stdout));
    process.stdout.write(`${lines.join('\n')}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`eventing-cost: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

export interface MeasuredRound extends MeasuredBroker, Round {}

async function measure(brokers: readonly MeasuredBroker[], rounds: number): Promise<MeasuredRound[]> {
  const kube = kubeFromEnvironment();
  const functions = await startFunctions(await hostForPods(kube));
  const namespace = `eventing-cost-${crypto.randomUUID().slice(0, 8)}`;
  await kube.create(Namespace, { metadata: { name: namespace } });
  try {
    publish(`${brokers.length} Brokers and their Triggers`);
    await makeBrokers(kube, namespace, brokers, functions.urlOf);
    return await runRounds(kube, { namespace, functions, brokers, rounds });
  } finally {
    await kube.delete(Namespace, { name: namespace });
    await functions.close();
  }
}

const publish = (line: string) => process.stderr.write(`eventing-cost: ${line} ...\n`);

interface Setup {
  namespace: string;
  functions: FunctionsUnderTest;
  brokers: readonly MeasuredBroker[];
  rounds: number;
}

/** Round about, so that whatever else the machine does falls on all alike; the first is for warming up. */
async function runRounds(kube: Kube, { namespace, functions, brokers, rounds }: Setup): Promise<MeasuredRound[]> {
  const ingress = await ingressAddress(kube);
  const nodes = (await kube.list(Node)).map(({ metadata }) => metadata.name);
  const done: MeasuredRound[] = [];
  for (let round = 0; round <= rounds; round++) {
    publish(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    for (const broker of brokers) {
      const url = `${ingress}/${namespace}/${broker.name}`;
      const size = round === 0 ? warmUp : sizes;
      const found = await runRound({ url, broker: broker.name, functions, nodes, ...size });
      if (round > 0) done.push({ ...broker, ...found });
    }
  }
  return done;
}

const Node = defineResource({ apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false }, {});
const Service = defineResource(
  { apiVersion: 'v1', kind: 'Service', plural: 'services' },
  { spec: z.looseObject({ clusterIP: z.string() }) },
);

/** Straight to the Service: a forwarded port would be measured along. */
async function ingressAddress(kube: Kube): Promise<string> {
  const service = await kube.get(Service, { namespace: 'knative-eventing', name: 'broker-ingress' });
  if (!service) throw new Error('expected Knative Eventing with its Service broker-ingress, found none: install it');
  return `http://${service.spec.clusterIP}`;
}

process.exit(await main());
