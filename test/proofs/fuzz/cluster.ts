import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdmissionRequest } from '../../../deploy/local/api-server/admission.ts';
import { done } from '../../../deploy/local/cdi/scripted-import.ts';
import { clientOf } from '../../../deploy/local/client.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import { giveAccount } from '../../../deploy/local/openstack/account.ts';
import { type OpenStack, startOpenStack } from '../../../deploy/local/openstack/start-openstack.ts';
import { type LocalCluster, startLocal } from '../../../deploy/local/start.ts';
import { applyManifests, readManifests } from '../../../deploy/manifests.ts';
import { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { policyRef } from '../../../shared/policy.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { siteKeyRef } from '../../../shared/workspaces/site-key.ts';
import { mayMakeWorkspaces } from '../../attacks/attacker.ts';
import { allow, bind, ServiceAccount } from '../../support/builders/access.ts';
import { trustPublicationKey } from '../../support/builders/publications.ts';
import { functionsApart, type Measured } from './functions-apart.ts';

/** One write as admission saw it: after RBAC and schema, before the store. */
export interface Write {
  /** `start-sync` for a function; the user's whole name for everyone else. */
  by: string;
  isFunction: boolean;
  operation: AdmissionRequest['operation'];
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  object: KubernetesObject | undefined;
  oldObject: KubernetesObject | undefined;
}

/** What happened since it was asked last. */
export interface Observation extends Measured {
  writes: Write[];
  logs: string[];
  /** What functions answered, other than that all is well. */
  answers: { name: string; status: number; body: string }[];
  /** What ended a process, or would have. */
  crashes: string[];
}

export interface FuzzCluster {
  kube: Kube;
  broker: string;
  /** Makes a namespace with an author in it, who has the rights that the shipped role `edit` gives. */
  author(namespace: string): Promise<Kube>;
  /** Resolves once nothing is delivered any more and both timers have ticked since, or after that time. */
  settled(withinMs: number): Promise<void>;
  observed(): Promise<Observation>;
  /** Values that are in Secrets, by the namespace of the Secret. */
  secrets: readonly { namespace: string; value: string }[];
  close(): Promise<void>;
}

/** The lines of the policy that let authors download. */
export const allowed = [
  { place: 'https://s3.test/images/', secret: 's3-reader' },
  { place: 'https://open.test/', secret: undefined },
] as const;

const policy = {
  allowedSources: allowed.map(({ place, secret }) => [`${place}**`, secret].filter(Boolean).join(' ')).join('\n'),
  concurrency: '4',
  retryLimit: '1',
  // No host of a test has an address.
  inspectTimeout: '500ms',
  retryBackoffDuration: '200ms',
  prune: 'WhenUnreferenced',
  pruneAfter: '1s',
  keepRevisions: '2',
  imageUrlTemplate: 'https://s3.test/images/{name}/{version}/vm.qcow2',
  machineFailedAfter: '10s',
  serverRecoverAfter: '1s',
  ansibleRunnerImage: 'registry.test/ansible-runner:1',
  ansibleCredentials: 'true',
  hostPorts: '53/udp',
};

/** In the Secrets of others, in base64 and so nowhere else by chance. */
const canary = () => `canary-${randomUUID()}`;
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A local cluster with a victim in it, an author, and everything watched that functions do. */
export async function startFuzzCluster(mistake?: string): Promise<FuzzCluster> {
  let seen = emptyObservation();
  const heard = {
    log: (line: string) => void seen.logs.push(line),
    answered: (name: string, status: number, body: string) => {
      if (![202, 204].includes(status)) seen.answers.push({ name, status, body });
    },
    ended: (error: Error) => void seen.crashes.push(String(error.stack ?? error)),
  };
  const told = canary();
  const apart = functionsApart({ mistake, secret: told, openStack: true }, heard);
  const onRejection = (reason: unknown) =>
    void seen.crashes.push(String(reason instanceof Error ? reason.stack : reason));
  process.on('unhandledRejection', onRejection);
  const openStack: OpenStack = await startOpenStack({ clock: realClock, times: {} });
  const importImage = async () => done;
  const cluster: LocalCluster = await startLocal({
    openStack: true,
    schedules: { sweep: '* * * * * *', audit: '*/2 * * * * *' },
    gracePeriodMs: 0,
    serveFunctions: apart.serve,
    cdi: { importImage },
  });
  const { kube, server, eventing, broker } = cluster;
  const secrets = [{ namespace: 'victim', value: told }];
  const hide = async (namespace: string, name: string, keys: readonly string[], labels = {}) => {
    const values = Object.fromEntries(keys.map((key) => [key, canary()]));
    secrets.push(...Object.values(values).map((value) => ({ namespace, value })));
    const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)]));
    await kube.create(Secret, { metadata: { name, namespace, labels }, data });
  };
  const { userName, password, projectName } = openStack.admin;
  await giveAccount(kube, { authUrl: openStack.authUrl, userName, password, projectName });
  await trustPublicationKey(kube);
  await kube.patch(ConfigMap, policyRef, { data: policy });
  await applyManifests(kube, await readManifests('deploy/production/roles'));
  for (const name of ['vmdi-farm', 'victim', 'ws-taken'])
    if (!(await kube.get(Namespace, { name }))) await kube.create(Namespace, { metadata: { name } });
  await hide('vmdi-farm', 's3-reader', ['accessKeyId', 'secretKey']);
  await hide('victim', 's3-reader', ['accessKeyId', 'secretKey']);
  await hide('victim', 'secret', ['password'], { 'pelotech.ot/use': 'password' });
  await hide('victim', 'password', ['password'], { 'pelotech.ot/use': 'password' });
  await hide('ws-taken', 'password', ['password'], { 'pelotech.ot/use': 'password' });
  await kube.delete(Secret, siteKeyRef);
  await hide(operatorNamespace, siteKeyRef.name, ['key']);
  await kube.create(NetworkAttachmentDefinition, {
    metadata: { name: 'net', namespace: 'victim' },
    spec: { config: '{}' },
  });
  const classes = {
    storageClass: 'gp3',
    snapshotClass: 'ebs-snapshot',
    diskSize: '1Gi',
    sourceType: 's3',
    secretRef: 's3-reader',
  };
  const image = (namespace: string, name: string, url: string) =>
    kube.create(VMDiskImage, {
      metadata: { name, namespace, annotations: { 'pelotech.ot/keep': 'true' } },
      spec: { url, ...classes },
    });
  await image('vmdi-farm', 'golden', 'https://s3.test/golden/golden.qcow2');
  await image('vmdi-farm', 'private', 'https://s3.test/private/private.qcow2');
  await image('victim', 'private', 'https://s3.test/private/victim.qcow2');
  await kube.create(Workspace, {
    metadata: { name: 'victim-lab' },
    spec: {
      networks: [{ name: 'net', cidr: '10.10.0.0/24' }],
      vms: [
        {
          name: 'vm',
          backingVMDiskImage: 'golden',
          resources: { cpu: '1', memory: '1Gi' },
          interfaces: [{ network: 'net' }],
        },
      ],
    },
  });
  const settled = async (withinMs: number) => {
    const over = AbortSignal.timeout(withinMs);
    const late = new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }));
    // The timers tick each two seconds.
    await Promise.race([late, sleep(2100).then(() => eventing.idle())]);
  };
  for (let tries = 0; (await kube.get(Workspace, { name: 'victim-lab' }))?.status?.phase !== 'Ready'; tries++) {
    if (tries === 3000) throw new Error('expected the lab of the victim to be Ready within five minutes');
    await sleep(100);
  }
  await settled(10_000);
  server.addAdmission((request) => void seen.writes.push(writeOf(request)));
  await apart.measure();
  seen = emptyObservation();
  return {
    kube,
    broker,
    secrets,
    settled,
    author: async (namespace) => {
      const metadata = { name: 'mallory', namespace };
      await kube.create(Namespace, { metadata: { name: namespace } });
      await kube.create(ServiceAccount, { metadata });
      await bind(kube, metadata, metadata, { kind: 'ClusterRole', name: 'ot-functions-edit' });
      await allow(kube, metadata, { name: namespace }, [mayMakeWorkspaces]);
      for (const name of ['net', 'control-net', 'net-1'])
        await kube.create(NetworkAttachmentDefinition, { metadata: { name, namespace }, spec: { config: '{}' } });
      const use = { 'pelotech.ot/use': 'password' };
      await kube.create(Secret, {
        metadata: { name: 'password', namespace, labels: use },
        data: { password: base64('own') },
      });
      await kube.create(Secret, { metadata: { name: 'secret', namespace }, data: { password: base64('own') } });
      return clientOf(server, server.tokenFor(metadata));
    },
    observed: async () => {
      const measured = await apart.measure();
      const found = { ...seen, ...measured };
      seen = emptyObservation();
      return found;
    },
    close: async () => {
      process.off('unhandledRejection', onRejection);
      await cluster.close();
      await openStack.close();
    },
  };
}

const emptyObservation = (): Observation => ({
  writes: [],
  logs: [],
  answers: [],
  crashes: [],
  longestBlockMs: 0,
  longestDecideMs: {},
});

const accounts = `system:serviceaccount:${operatorNamespace}:`;

function writeOf({ user, operation, resource, subresource, object, oldObject }: AdmissionRequest): Write {
  const of = structuredClone((object ?? oldObject) as KubernetesObject | undefined);
  return {
    by: user.startsWith(accounts) ? user.slice(accounts.length) : user,
    isFunction: user.startsWith(accounts),
    operation,
    resource: [resource.resource, resource.group].filter(Boolean).join('.'),
    subresource,
    namespace: of?.metadata.namespace ?? '',
    name: of?.metadata.name ?? '',
    object: object && of,
    oldObject: structuredClone(oldObject as KubernetesObject | undefined),
  };
}
