import { operatorNamespace, publicBroker } from '../../shared/operator.ts';
import { telemetryOf } from '../../shared/runtime/telemetry/telemetry.ts';
import { gatewayApp, type Images, type LogLine } from './app.ts';
import { parseConfig } from './config.ts';
import { type Listening, listen } from './listen.ts';
import { postEvent } from './post-event.ts';
import { reloadingFile } from './reloading-file.ts';
import { tokenVerifier } from './verify-token.ts';

/** The settings of the gateway from its environment: files and addresses. */
export interface GatewaySettings {
  configFile: string;
  /** The files of the certificate, or the explicit wish for none. */
  tls: { certificate: string; key: string } | 'plain-http';
  broker: { url: string; tokenFile: string | undefined; keysFolder: string };
  port: number;
  host: string;
  /** How often configuration and certificate are looked at; a kubelet takes up to a minute itself. */
  rereadMs: number;
}

/** A running gateway; `renew` looks at the configuration, too. */
export type Gateway = Listening;

const inPod = '/etc/gateway';

/** The settings that the manifests give by environment variables, with the manifests' own paths as defaults. */
export function settingsFrom(env: Readonly<Record<string, string | undefined>>): GatewaySettings {
  const tls = {
    certificate: env.GATEWAY_CERTIFICATE ?? `${inPod}/tls/tls.crt`,
    key: env.GATEWAY_KEY ?? `${inPod}/tls/tls.key`,
  };
  return {
    configFile: env.GATEWAY_CONFIG ?? `${inPod}/config/gateway.yaml`,
    tls: env.GATEWAY_PLAIN_HTTP === 'true' ? 'plain-http' : tls,
    broker: {
      url:
        env.K_SINK ?? `http://broker-ingress.knative-eventing.svc.cluster.local/${operatorNamespace}/${publicBroker}`,
      tokenFile: env.K_SINK_TOKEN_FILE,
      keysFolder: env.GATEWAY_SIGNING_KEYS ?? `${inPod}/signing-keys`,
    },
    port: Number(env.GATEWAY_PORT ?? 8443),
    host: env.GATEWAY_HOST ?? '0.0.0.0',
    rereadMs: 30_000,
  };
}

/** Starts the gateway; throws where its configuration or certificate cannot be used, with what was expected. */
export async function startGateway(
  settings: GatewaySettings,
  images: Images,
  log: (line: LogLine) => void = print,
): Promise<Gateway> {
  const complain = (message: string) => log({ level: 'error', function: 'gateway', message });
  const withVerifier = (text: string) => {
    const config = parseConfig(text);
    return { config, verify: tokenVerifier(config, Date.now) };
  };
  const configured = await reloadingFile([settings.configFile], withVerifier, complain);
  const telemetry = telemetryOf('gateway');
  const app = gatewayApp({
    current: configured.current,
    ...images,
    post: (event, sender) => postEvent(settings.broker, event, sender),
    now: Date.now,
    log,
    measure: (seconds, result) =>
      telemetry.measure('ot.event.handling.duration', seconds, { function: 'gateway', result }),
  });
  const tls = settings.tls === 'plain-http' ? undefined : settings.tls;
  const listening = await listen((request) => app.fetch(request), { ...settings, tls, complain });
  const renew = async () => {
    const changed = await Promise.all([configured.check(), listening.renew()]);
    return changed.includes(true);
  };
  const timer = setInterval(() => void renew(), settings.rereadMs).unref();
  return {
    ...listening,
    renew,
    close() {
      clearInterval(timer);
      return listening.close();
    },
  };
}

const print = (line: LogLine) => console.log(JSON.stringify(line));
