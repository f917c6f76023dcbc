import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { optionsOf, UsageError } from '../terminal/arguments.ts';
import { logAbove } from '../terminal/log-above.ts';
import { endWithReader, isLive, lookOf } from '../terminal/output.ts';
import { screenOn } from '../terminal/screen.ts';
import { type Stop, stopSignals } from '../terminal/stop-signals.ts';
import { bringUp } from './up/bring-up.ts';
import type { ClusterView, Fact } from './up/cluster-view.ts';
import { factLine, render, roomIn } from './up/frame.ts';
import { introduction } from './up/introduction.ts';
import { writeKubeconfig } from './up/kubeconfig-file.ts';
import { lastPorts } from './up/last-ports.ts';
import { defaultPorts, portsOf } from './up/ports.ts';
import { watchCluster } from './up/watch.ts';

const help = `npm start [-- options]

Brings up the local cluster in this process: an API server for kubectl, Knative's eventing, the functions, the
controllers of CDI, of the snapshotter and of KubeVirt, an object store with sample images, and the page that shows what
happens. Nothing of it leaves this machine. However it ends, the next start has all objects as they were; a download that was
interrupted counts as a failed attempt.

Options
  --state FOLDER     where the cluster is kept, for one process at a time (.local of this project)
  --fresh            delete that cluster, and start with an empty one
  --port N           port of the API server (as the last time, else ${defaultPorts.port}; 0 takes a free one)
  --broker-port N    port of the Broker, where pipelines post events (..., else ${defaultPorts.brokerPort})
  --store-port N     port of the object store (..., else ${defaultPorts.storePort})
  --metrics-port N   port of Prometheus' /metrics (..., else ${defaultPorts.metricsPort})
  --console-port N   port of the page that shows it all (..., else ${defaultPorts.consolePort})
  --kubeconfig FILE  where to write the kubeconfig (kubeconfig in the folder of --state)
  --help             print this

Ends with Ctrl-C or SIGTERM. Exit code: 0, 1 if it could not be brought up, 2 for a wrong option.

Examples
  npm start
  npm start -- --fresh
  npm start -- --state /tmp/other --port 0 --broker-port 0 --store-port 0 --metrics-port 0 --console-port 0
`;

const frameMs = 200;

async function main(): Promise<number> {
  const stop = stopSignals();
  try {
    const options = optionsOf('npm start --', process.argv.slice(2), {
      port: { type: 'string' },
      'broker-port': { type: 'string' },
      'store-port': { type: 'string' },
      'metrics-port': { type: 'string' },
      'console-port': { type: 'string' },
      kubeconfig: { type: 'string' },
      state: { type: 'string' },
      fresh: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    });
    if (options.help) {
      process.stdout.write(help);
      return 0;
    }
    const { fresh = false } = options;
    const folder = resolve(options.state ?? fileURLToPath(new URL('../../.local', import.meta.url)));
    const wanted = portsOf(options, fresh ? undefined : await lastPorts(folder));
    const kubeconfig = resolve(options.kubeconfig ?? join(folder, 'kubeconfig'));
    await run({ folder, fresh, wanted }, kubeconfig, stop);
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return 0;
    process.stderr.write(`start: ${error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run(options: Parameters<typeof bringUp>[0], kubeconfig: string, stop: Stop): Promise<void> {
  const { stdout } = process;
  endWithReader(stdout);
  const { cluster, store, isNew, traffic, close } = await announced(bringUp(options));
  try {
    stop.signal.throwIfAborted();
    await writeKubeconfig(kubeconfig, cluster.server.kubeconfig());
    const lines = introduction({
      isNew,
      kubeconfig,
      consoleUrl: cluster.consoleUrl ?? '',
      storeUrl: store.url,
      broker: cluster.broker,
      metricsUrl: cluster.metricsUrl ?? '',
    });
    stdout.write(`${lines.join('\n')}\n`);
    const display = isLive(stdout) ? liveDisplay() : lineDisplay();
    const view = await watchCluster({ kube: cluster.kube, signal: stop.signal, traffic, onFact: display.onFact });
    const close = display.start(view);
    await new Promise<void>((done) => {
      if (stop.signal.aborted) done();
      stop.signal.addEventListener('abort', () => done(), { once: true });
    });
    close();
  } finally {
    await close();
  }
}

/** Says what is being waited for, on a terminal until it exists. */
async function announced<T>(work: Promise<T>): Promise<T> {
  const screen = isLive(process.stdout) ? screenOn(process.stdout) : undefined;
  const line = 'Bringing up the local cluster ...';
  if (screen) screen.draw([line]);
  else process.stdout.write(`${line}\n`);
  try {
    return await work;
  } finally {
    screen?.draw([]);
    screen?.close();
  }
}

interface Display {
  onFact(fact: Fact): void;
  start(view: () => ClusterView): () => void;
}

function liveDisplay(): Display {
  const { stdout } = process;
  return {
    onFact: () => {},
    start: (view) => {
      const screen = screenOn(stdout);
      const logAsUsual = logAbove(screen);
      const draw = () => {
        const rows = Math.max(8, (stdout.rows || 24) - 1);
        const now = view();
        screen.draw(render(now, lookOf(stdout), roomIn(rows, now)));
      };
      draw();
      const timer = setInterval(draw, frameMs);
      return () => {
        clearInterval(timer);
        screen.close();
        logAsUsual();
      };
    },
  };
}

function lineDisplay(): Display {
  return {
    onFact: (fact) => void process.stdout.write(`${factLine(fact, lookOf(process.stdout))}\n`),
    start: () => () => {},
  };
}

process.exit(await main());
