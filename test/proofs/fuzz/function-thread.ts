import { parentPort, workerData } from 'node:worker_threads';
import { realClock } from '../../../deploy/local/clock.ts';
import { serveFunctions } from '../../../deploy/local/functions.ts';
import { loadFunctions } from '../../../knative/functions.ts';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import type { Answered, Asked, Measured, Started } from './functions-apart.ts';
import { planted } from './mistakes.ts';

const { kubeconfigs, mistake, secret, openStack } = workerData as Started;
const milliseconds = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000;

/**
 * The time of this thread's CPU from one turn of a timer to the next. The timer is due every 5 ms: a turn that comes later was held up
 * by work without a pause, and what the machine does for others meanwhile does not count.
 */
const measured: Measured = { longestBlockMs: 0, longestDecideMs: {} };
let before = process.threadCpuUsage();
setInterval(() => {
  const now = process.threadCpuUsage();
  measured.longestBlockMs = Math.max(measured.longestBlockMs, milliseconds(now) - milliseconds(before));
  before = now;
}, 5);

const timed = (declaration: FunctionDeclaration): FunctionDeclaration => ({
  ...declaration,
  decide: (observed) => {
    const from = process.threadCpuUsage();
    try {
      return declaration.decide(observed);
    } finally {
      const { name } = declaration;
      const took = milliseconds(process.threadCpuUsage(from));
      measured.longestDecideMs[name] = Math.max(measured.longestDecideMs[name] ?? 0, took);
    }
  },
});

let sink: string | undefined;
const functions = serveFunctions(
  (await loadFunctions({ openStack })).map((one) => timed(planted(mistake, secret, one))),
  {
    server: { tokenFor: ({ name }) => name, kubeconfig: (name = '') => kubeconfigs[name] ?? '' },
    clock: realClock,
    sink: () => sink,
    replicas: {},
    gracePeriodMs: 0,
    fetchOpenStack: fetch,
  },
);

const answer = async (asked: Asked): Promise<Answered> => {
  if (asked.do === 'drain') await functions.drain();
  if (asked.do !== 'serve') {
    const found = structuredClone(measured);
    if (asked.do === 'measure') Object.assign(measured, { longestBlockMs: 0, longestDecideMs: {} });
    return { id: asked.id, status: 200, body: '', measured: found };
  }
  sink = asked.sink;
  const request = new Request('http://function/', { method: 'POST', headers: asked.headers, body: asked.body });
  const response = (await functions.handler(asked.name)?.(request)) ?? new Response(null, { status: 404 });
  return { id: asked.id, status: response.status, body: await response.text() };
};

parentPort?.on('message', async (asked: Asked) => parentPort?.postMessage(await answer(asked)));
