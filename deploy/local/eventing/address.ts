import type { Destination } from './resources.ts';

/** Somewhere an event can be posted to. */
export interface Address {
  url: string;
  send(request: Request): Promise<Response>;
}

/** Answers a request in this process, as a function's Hono app does. */
export type Handler = (request: Request) => Promise<Response>;

/** Finds the address behind a sink, subscriber or dead letter sink; throws where there can be none. */
export type Resolve = (destination: Destination, namespace: string) => Address;

/**
 * Resolves as Knative does, with two roads inside the process: Brokers lead to `ingress`, Services (by reference or by
 * their cluster-local URL) to the handler of that name. Everything else goes over HTTP.
 */
export function resolver(options: {
  url: string;
  ingress: Handler;
  functions: (name: string) => Handler | undefined;
}): Resolve {
  const service = (url: string, name: string): Address => ({
    url,
    send: async (request) => {
      const handler = options.functions(name);
      if (!handler) throw new Error(`connection refused: no function named ${name} runs here`);
      return handler(request);
    },
  });
  const byUrl = (url: string): Address => {
    const { hostname } = new URL(url);
    if (hostname === brokerIngressHost) return { url, send: options.ingress };
    if (url.startsWith(`${options.url}/`)) return { url, send: options.ingress };
    const [name, , kind] = hostname.split('.');
    const isService = hostname.endsWith('.svc.cluster.local') && kind === 'svc' && name !== undefined;
    return isService ? service(url, name) : { url, send: (request) => fetch(request) };
  };
  return ({ ref, uri }, namespace) => {
    if (!ref) {
      if (uri) return byUrl(uri);
      throw new Error('expected ref or uri, found neither');
    }
    if (uri && URL.canParse(uri)) throw new Error(`expected a uri below the ${ref.kind} ${ref.name}, found ${uri}`);
    const base = urlOf(ref.kind, ref.name, ref.namespace ?? namespace, options.url);
    return byUrl(uri ? new URL(uri, base).href : base);
  };
}

/** The host under which every Broker of a cluster is reached. */
const brokerIngressHost = 'broker-ingress.knative-eventing.svc.cluster.local';

function urlOf(kind: string, name: string, namespace: string, ingressUrl: string) {
  if (kind === 'Broker') return `${ingressUrl}/${namespace}/${name}`;
  if (kind === 'Service') return `http://${name}.${namespace}.svc.cluster.local`;
  throw new Error(`expected a reference to a Broker or a Service, found a ${kind}; write its uri instead`);
}
