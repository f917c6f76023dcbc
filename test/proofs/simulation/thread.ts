import { parentPort, workerData } from 'node:worker_threads';
import { perform, type Task } from './task.ts';

// Functions log the injected faults.
console.error = () => undefined;

const shared = workerData as Int32Array;
const around = {
  signal: {
    // A run lets no message in.
    get aborted() {
      return Atomics.load(shared, 0) === 1;
    },
  },
  ran: () => void Atomics.add(shared, 1, 1),
};

parentPort?.on('message', async (task: Task) => parentPort?.postMessage(await perform(task, around)));
