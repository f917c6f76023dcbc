import { constants } from 'node:os';

/** The wish of someone outside that the process ends. */
export interface Stop {
  /** Aborts with the first wish. */
  signal: AbortSignal;
  /** The exit code of a process that such a signal ended: 130 for Ctrl-C; 0 while no one wishes it. */
  exitCode(): number;
  /** Listens no more. */
  off(): void;
}

const wishes = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Hears Ctrl-C, SIGTERM and the closing of the terminal; the second of them ends the process at once. */
export function stopSignals(): Stop {
  const controller = new AbortController();
  let code = 0;
  const hear = (name: (typeof wishes)[number]) => {
    if (code > 0) process.exit(code);
    code = 128 + constants.signals[name];
    controller.abort(new Error(`stopped by ${name}`));
  };
  for (const name of wishes) process.on(name, hear);
  return {
    signal: controller.signal,
    exitCode: () => code,
    off: () => {
      for (const name of wishes) process.off(name, hear);
    },
  };
}
