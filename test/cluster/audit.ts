import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { operatorNamespace } from '../../shared/operator.ts';
import { namespaceOf } from '../../shared/workspaces/workspace.ts';
import { inWords, type Rule } from '../proofs/permissions/granted.ts';

/** One request of a ServiceAccount of the operator, as the API server's audit log has it. */
export interface AuditedRequest {
  account: string;
  /** The Pod that sent it, by its token. */
  pod: string | undefined;
  verb: string;
  group: string;
  /** With its subresource: `vmdiskimages/status`; empty where the request is for no resource (discovery). */
  resource: string;
  /** Absent for a request over all namespaces. */
  namespace: string | undefined;
  name: string | undefined;
  /** The status of its answer. */
  code: number;
  /** Why it was refused, in the API server's words; absent where it was not. */
  refusal: string | undefined;
  /** An unknown field would have been refused. */
  isStrict: boolean;
  /** When it came in, in milliseconds since 1970. */
  atMs: number;
}

/** What the audit log says of the operator's ServiceAccounts. */
export interface Audit {
  requests: AuditedRequest[];
  /** What Knative asked about them before it acted for them (SubjectAccessReview): rights that no request of theirs shows. */
  reviewed: Rule[];
}

const accounts = `system:serviceaccount:${operatorNamespace}:`;

/** What to log: each request of the operator's ServiceAccounts without its body, what Knative asks about their rights, and who deletes Pods. */
const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  // A watch is logged when it begins, so that a running one is seen.
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'Metadata', userGroups: [`system:serviceaccounts:${operatorNamespace}`] },
    {
      level: 'Request',
      users: ['system:serviceaccount:knative-eventing:eventing-controller'],
      verbs: ['create'],
      resources: [{ group: 'authorization.k8s.io', resources: ['subjectaccessreviews'] }],
    },
    { level: 'Metadata', verbs: ['delete', 'deletecollection'], resources: [{ group: '', resources: ['pods'] }] },
    { level: 'None' },
  ],
};

/**
 * Writes the policy and returns the flags that make kube-apiserver log by it; a line is written before its answer is sent. By
 * default it would begin another file after 100 MB, which all stories together exceed.
 */
export async function auditArguments(policyFile: string, logFile: string): Promise<string[]> {
  await writeFile(policyFile, stringify(auditPolicy));
  return [
    `--audit-policy-file=${policyFile}`,
    `--audit-log-path=${logFile}`,
    '--audit-log-maxsize=4096',
    '--audit-log-mode=blocking',
  ];
}

export const readAudit = async (logFile: string): Promise<Audit> => auditOf(await readFile(logFile, 'utf8'));

/** What the lines of an audit log say; a last line that is not whole yet is left out. */
export function auditOf(text: string): Audit {
  const events = eventsIn(text);
  return {
    requests: events.filter(({ user }) => user.username.startsWith(accounts)).map(requestOf),
    reviewed: events.flatMap(reviewedBy),
  };
}

function eventsIn(text: string): AuditEvent[] {
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  const events = lines.filter(Boolean).map((line) => JSON.parse(line) as AuditEvent);
  // A watch is in there twice: when it begins, and when it ends.
  return [...new Map(events.reverse().map((event) => [event.auditID, event])).values()].reverse();
}

/** A request to delete Pods. */
export interface PodDeletion {
  time: string;
  /** Undefined if it was to delete all. */
  pod: string | undefined;
  /** The user and the client that sent it, and the answer. */
  by: string;
}

/** The requests of any user to delete Pods of a namespace since then. */
export const podDeletionsIn = (text: string, namespace: string, fromMs: number): PodDeletion[] =>
  eventsIn(text)
    .filter(({ verb, objectRef: { resource, subresource, namespace: place } = {}, ...event }) => {
      const isThere = resource === 'pods' && !subresource && place === namespace;
      return isThere && verb.startsWith('delete') && Date.parse(event.requestReceivedTimestamp) >= fromMs;
    })
    .map(({ requestReceivedTimestamp: time, user, userAgent, objectRef, responseStatus }) => ({
      time,
      pod: objectRef?.name,
      by: `${user.username} (${userAgent ?? 'unknown client'}), answer ${responseStatus?.code ?? 'unknown'}`,
    }));

/** What a request shows to be needed: its verb, and `create` where another verb made the object. */
export function usedBy({ account, verb, group, resource, namespace, code }: AuditedRequest): Rule[] {
  const rule = { account, group, resource, namespace };
  return [{ ...rule, verb }, ...(verb !== 'create' && code === 201 ? [{ ...rule, verb: 'create' }] : [])];
}

/** The granted rules that no request used and no review asked for, in words. */
export function unusedOf(granted: readonly Rule[], { requests, reviewed }: Audit): string[] {
  const needed = [...requests.filter(({ refusal }) => refusal === undefined).flatMap(usedBy), ...reviewed];
  const isNeeded = (rule: Rule) =>
    needed.some(
      (need) => inWords(need) === inWords(rule) && (rule.namespace === undefined || rule.namespace === need.namespace),
    );
  return granted.filter((rule) => !isNeeded(rule)).map(inWords);
}

/**
 * The requests that were refused for lack of a rule. A namespace that goes takes nothing new from anybody, which is
 * answered 403 as well, and is no lack; nor is it where a workspace's namespace was asked while the right to it came or went
 * with it, and the same was answered there another time.
 */
export function refusedIn({ requests }: Audit): AuditedRequest[] {
  const there = (request: AuditedRequest) => `${inWords(request)} ${request.namespace}`;
  // Only a client that may ask learns that it does not exist (404).
  const answered = new Set(requests.filter(({ code }) => code < 300 || code === 404).map(there));
  const comesAndGoes = (request: AuditedRequest) =>
    request.namespace?.startsWith(namespaceOf('')) === true && answered.has(there(request));
  return requests.filter(
    (request) =>
      request.refusal !== undefined &&
      !request.refusal.includes('because it is being terminated') &&
      !comesAndGoes(request),
  );
}

/** How often each was asked, by `start-sync patch vmdiskimages.pelotech.ot/status`. */
export function countsOf({ requests }: Audit): Map<string, number> {
  const counts = new Map<string, number>();
  for (const request of requests) counts.set(inWords(request), (counts.get(inWords(request)) ?? 0) + 1);
  return new Map([...counts].sort(([a], [b]) => a.localeCompare(b)));
}

const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** The objects that were written without being held against their definitions; a review is a question, and no object. */
export const laxlyWritten = ({ requests }: Audit): string[] => [
  ...new Set(
    requests
      .filter(({ verb, isStrict, resource }) => hasBody.has(verb) && !isStrict && !isReview.test(resource))
      .map(inWords),
  ),
];

const isReview = /reviews$/;

const hasBody = new Set(['create', 'update', 'patch']);

/** How many writes each ServiceAccount made that were carried out. */
export function writesByAccount(requests: readonly AuditedRequest[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { account, verb, code } of requests) {
    if (writes.has(verb) && code < 300) counts.set(account, (counts.get(account) ?? 0) + 1);
  }
  return new Map([...counts].sort(([a], [b]) => a.localeCompare(b)));
}

/** Writes of each ServiceAccount since the log of the environment began; none without a log. */
export async function writesSoFar(): Promise<ReadonlyMap<string, number>> {
  const logFile = process.env.OT_AUDIT_LOG;
  if (!logFile) return new Map();
  const requests: AuditedRequest[] = [];
  // Line by line: after hours it is too long for one text.
  for await (const line of createInterface({ input: createReadStream(logFile) })) {
    if (isOfWrite.test(line) && line.endsWith('}}')) requests.push(...auditOf(`${line}\n`).requests);
  }
  return writesByAccount(requests);
}

const isOfWrite = /"verb":"(create|update|patch|delete)/;

/** What came to such counts in the meantime. */
export const added = (
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Record<string, number> =>
  Object.fromEntries(
    [...after]
      .map(([account, count]) => [account, count - (before.get(account) ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );

/** A line of the log (audit.k8s.io/v1 Event), as far as it is read here. */
interface AuditEvent {
  auditID: string;
  user: { username: string; extra?: Record<string, string[]> };
  userAgent?: string;
  verb: string;
  objectRef?: { apiGroup?: string; resource?: string; subresource?: string; namespace?: string; name?: string };
  responseStatus?: { code?: number; message?: string };
  requestObject?: { spec?: { user?: string; resourceAttributes?: ResourceAttributes } };
  requestURI: string;
  requestReceivedTimestamp: string;
}

interface ResourceAttributes {
  namespace?: string;
  verb?: string;
  group?: string;
  resource?: string;
  subresource?: string;
}

function requestOf({ user, verb, objectRef = {}, responseStatus = {}, ...event }: AuditEvent): AuditedRequest {
  const { code = 0, message = 'no reason given' } = responseStatus;
  return {
    account: user.username.slice(accounts.length),
    pod: user.extra?.['authentication.kubernetes.io/pod-name']?.[0],
    verb,
    group: objectRef.apiGroup ?? '',
    resource: withSubresource(objectRef),
    namespace: objectRef.namespace,
    name: objectRef.name,
    code,
    refusal: code === 403 ? message : undefined,
    isStrict: event.requestURI.includes('fieldValidation=Strict'),
    atMs: Date.parse(event.requestReceivedTimestamp),
  };
}

function reviewedBy({ objectRef, requestObject }: AuditEvent): Rule[] {
  const { user = '', resourceAttributes: asked } = requestObject?.spec ?? {};
  if (objectRef?.resource !== 'subjectaccessreviews' || !asked || !user.startsWith(accounts)) return [];
  const { verb = '', group = '', namespace } = asked;
  return [{ account: user.slice(accounts.length), verb, group, resource: withSubresource(asked), namespace }];
}

const withSubresource = ({ resource = '', subresource = '' }) =>
  subresource ? `${resource}/${subresource}` : resource;
