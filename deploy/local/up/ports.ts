import { UsageError } from '../../terminal/arguments.ts';

/** The ports of the local cluster on 127.0.0.1; 0 takes a free one. */
export interface Ports {
  port: number;
  brokerPort: number;
  storePort: number;
  metricsPort: number;
  consolePort: number;
}

export const defaultPorts: Ports = {
  port: 18001,
  brokerPort: 18080,
  storePort: 19000,
  metricsPort: 9464,
  consolePort: 18090,
};

/** Which option sets which port. */
const optionOf = {
  port: '--port',
  brokerPort: '--broker-port',
  storePort: '--store-port',
  metricsPort: '--metrics-port',
  consolePort: '--console-port',
} as const;

/** Reads the ports from the options, else the last ones, else the defaults; throws a UsageError for an invalid port and for duplicates. */
export function portsOf(
  options: {
    port?: string;
    'broker-port'?: string;
    'store-port'?: string;
    'metrics-port'?: string;
    'console-port'?: string;
  },
  lastTime: Ports = defaultPorts,
): Ports {
  const ports: Ports = {
    port: portOf('--port', options.port) ?? lastTime.port,
    brokerPort: portOf('--broker-port', options['broker-port']) ?? lastTime.brokerPort,
    storePort: portOf('--store-port', options['store-port']) ?? lastTime.storePort,
    metricsPort: portOf('--metrics-port', options['metrics-port']) ?? lastTime.metricsPort,
    consolePort: portOf('--console-port', options['console-port']) ?? lastTime.consolePort,
  };
  const taken = new Map<number, string>();
  for (const [name, port] of Object.entries(ports) as [keyof Ports, number][]) {
    const other = taken.get(port);
    if (other && port !== 0)
      throw new UsageError(`expected ${other} and ${optionOf[name]} to differ, found ${port} for both`);
    taken.set(port, optionOf[name]);
  }
  return ports;
}

function portOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`${option}: expected a port from 0 (any) to 65535, found ${JSON.stringify(text)}`);
}

/** The options that ask for any free ports. */
export const anyPorts: readonly string[] = Object.values(optionOf).flatMap((option) => [option, '0']);

/** What to do about a port that cannot be listened on, in one line; undefined for any other error. */
export function portTrouble(error: unknown, ports: Ports): string | undefined {
  if (!(error instanceof Error) || !('port' in error) || !('code' in error)) return undefined;
  const name = (Object.keys(optionOf) as (keyof Ports)[]).find((key) => ports[key] === error.port);
  const option = name ? optionOf[name] : 'another port';
  if (error.code === 'EADDRINUSE')
    return `port ${error.port} of 127.0.0.1 is in use: stop what listens there, or choose another with ${option}`;
  if (error.code === 'EACCES')
    return `port ${error.port} of 127.0.0.1 may not be listened on: choose one above 1023 with ${option}`;
  return undefined;
}
