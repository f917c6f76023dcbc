import { imagePublished } from '../../../shared/events.ts';
import { defaultPorts } from './ports.ts';

/** Where the parts of the cluster listen, and where kubectl finds them. */
interface Addresses {
  /** Nothing was kept of it from before. */
  isNew: boolean;
  kubeconfig: string;
  /** The page that shows what happens. */
  consoleUrl: string;
  storeUrl: string;
  /** Where a pipeline posts its events. */
  broker: string;
  /** Where Prometheus scrapes. */
  metricsUrl: string;
}

/** What to type, for a user who has just started the cluster; at most 15 lines. */
export function introduction({ isNew, kubeconfig, consoleUrl, storeUrl, broker, metricsUrl }: Addresses): string[] {
  return [
    isNew
      ? 'The local cluster is up. Ctrl-C ends it; the next start continues from there.'
      : 'The local cluster is up with its earlier objects; --fresh starts with an empty one.',
    `See it in a browser at ${consoleUrl}, and in another terminal:`,
    `  export KUBECONFIG=${kubeconfig}`,
    `  ${apply('virtual-machine-ubuntu', storeUrl)}`,
    '  kubectl get vmdi,otvm -A     # its image, then the machine; and with -o wide',
    `  ${apply('vm-disk-image-missing', storeUrl)}   # Failed`,
    `  ${apply('vm-disk-image-illegal', storeUrl)}   # refused`,
    '  kubectl edit configmap -n sync-operator sync-operator-policy',
    '  kubectl delete otvm ubuntu-1; kubectl delete vmdi -n vmdi-farm ubuntu',
    `  curl ${broker} \\`,
    `    -H 'content-type: application/cloudevents+json' -d '{"specversion":"1.0",`,
    `    "id":"1","source":"me","type":"${imagePublished}","data":`,
    `    {"name":"debian-12","url":"${storeUrl}/images/debian-12.qcow2"}}'`,
    `  curl -s ${metricsUrl}`,
    'The store has /images/windows-2022.qcow2 and /images/alpine-3.20.img.gz, too.',
  ];
}

/** The examples name the usual address of the object store. */
function apply(example: string, storeUrl: string): string {
  const file = `crds/examples/${example}.yaml`;
  const usual = `http://127.0.0.1:${defaultPorts.storePort}`;
  return storeUrl === usual ? `kubectl apply -f ${file}` : `sed s#${usual}#${storeUrl}# ${file} | kubectl apply -f -`;
}
