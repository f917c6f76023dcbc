import { afterAll, beforeAll } from 'vitest';
import { install } from './installation.ts';
import { portForward } from './kubectl.ts';

/** Installs the functions before the tests of a file; the result is the URL of the Broker's ingress while they run. */
export function installed(...options: Parameters<typeof install>): () => string {
  let broker: Awaited<ReturnType<typeof portForward>>;
  beforeAll(async () => {
    await install(...options);
    broker = await portForward('knative-eventing', 'broker-ingress', 80);
  });
  afterAll(() => broker?.close());
  return () => broker.url;
}
