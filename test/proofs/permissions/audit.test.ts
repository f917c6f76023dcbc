import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import {
  auditArguments,
  auditOf,
  countsOf,
  laxlyWritten,
  podDeletionsIn,
  readAudit,
  refusedIn,
  unusedOf,
  usedBy,
  writesByAccount,
} from '../../cluster/audit.ts';
import { inWords } from './granted.ts';

const user = (account: string) => ({ username: `system:serviceaccount:sync-operator:${account}` });
let ids = 0;

/** A line as kube-apiserver 1.34 writes it, as far as anything reads it. */
const line = (event: object) =>
  `${JSON.stringify({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: `id-${++ids}`,
    stage: 'ResponseComplete',
    requestURI: '/apis/pelotech.ot/v1alpha1/namespaces/lab/vmdiskimages/a/status?fieldManager=start-sync',
    requestReceivedTimestamp: '2026-01-01T00:00:00.500000Z',
    responseStatus: { metadata: {}, code: 200 },
    ...event,
  })}\n`;

const images = { apiGroup: 'pelotech.ot', apiVersion: 'v1alpha1', resource: 'vmdiskimages', namespace: 'lab' };
const events = { apiVersion: 'v1', resource: 'events', namespace: 'lab' };
const forbidden = (message: string) => ({ code: 403, status: 'Failure', reason: 'Forbidden', message });

const patched = line({
  user: user('start-sync'),
  verb: 'patch',
  objectRef: { ...images, subresource: 'status', name: 'a' },
});
const ruleOf = (account: string, verb: string, resource: string, group = '', namespace?: string) => ({
  account,
  verb,
  resource,
  group,
  namespace,
});

test('a line is a request of a ServiceAccount', () => {
  expect(auditOf(patched).requests).toEqual([
    {
      account: 'start-sync',
      verb: 'patch',
      group: 'pelotech.ot',
      resource: 'vmdiskimages/status',
      namespace: 'lab',
      name: 'a',
      code: 200,
      isStrict: false,
      refusal: undefined,
      atMs: Date.parse('2026-01-01T00:00:00.500Z'),
    },
  ]);
});

test('others, and a last line that is still being written, are left out', () => {
  const admin = line({ user: { username: 'kubernetes-admin' }, verb: 'patch', objectRef: images });
  expect(auditOf(admin + patched + patched.slice(0, 40)).requests).toHaveLength(1);
});

test('a watch that began and ended is one request', () => {
  const watch = { auditID: 'same', user: user('source-own'), verb: 'watch', objectRef: { resource: 'configmaps' } };
  const text = line({ ...watch, stage: 'ResponseStarted' }) + patched + line(watch);
  expect([...countsOf(auditOf(text))]).toEqual([
    ['source-own watch configmaps', 1],
    ['start-sync patch vmdiskimages.pelotech.ot/status', 1],
  ]);
});

test('an apply that made its object shows that create is needed as well', () => {
  const applied = line({ user: user('preload'), verb: 'patch', objectRef: images, responseStatus: { code: 201 } });
  expect(auditOf(applied).requests.flatMap(usedBy).map(inWords)).toEqual([
    'preload patch vmdiskimages.pelotech.ot',
    'preload create vmdiskimages.pelotech.ot',
  ]);
});

test('a rule is unused if no request needed it there, or all were refused', () => {
  const text =
    patched +
    line({ user: user('prune'), verb: 'create', objectRef: events, responseStatus: forbidden('no') }) +
    line({ user: user('prune'), verb: 'get', objectRef: { ...events, namespace: 'lab' } });
  const granted = [
    ruleOf('start-sync', 'patch', 'vmdiskimages/status', 'pelotech.ot'),
    ruleOf('start-sync', 'patch', 'vmdiskimages', 'pelotech.ot'),
    ruleOf('follow-sync', 'patch', 'vmdiskimages/status', 'pelotech.ot'),
    ruleOf('prune', 'create', 'events'),
    ruleOf('prune', 'get', 'events', '', 'sync-operator'),
    ruleOf('prune', 'get', 'events', '', 'lab'),
  ];
  expect(unusedOf(granted, auditOf(text))).toEqual([
    'start-sync patch vmdiskimages.pelotech.ot',
    'follow-sync patch vmdiskimages.pelotech.ot/status',
    'prune create events',
    'prune get events',
  ]);
});

test('what Knative asks about an account before it acts for it counts as used', () => {
  const review = line({
    level: 'Request',
    user: { username: 'system:serviceaccount:knative-eventing:eventing-controller' },
    verb: 'create',
    objectRef: { apiGroup: 'authorization.k8s.io', apiVersion: 'v1', resource: 'subjectaccessreviews' },
    requestObject: {
      spec: {
        user: user('source-pelotech').username,
        resourceAttributes: { verb: 'get', group: 'pelotech.ot', resource: 'vmdiskimages' },
      },
    },
    responseStatus: { code: 201 },
  });
  const granted = [ruleOf('source-pelotech', 'get', 'vmdiskimages', 'pelotech.ot')];
  expect(unusedOf(granted, auditOf(review))).toEqual([]);
  expect(auditOf(review).requests).toEqual([]);
});

test('a refusal is reported in the words of the answer; in a namespace that is being deleted it does not count', () => {
  const asked = { user: user('prune'), verb: 'create', objectRef: events };
  const lacking = 'events is forbidden: User "x" cannot create resource "events"';
  const going = 'events "e" is forbidden: unable to create new content in namespace lab because it is being terminated';
  const text =
    line({ ...asked, responseStatus: forbidden(lacking) }) + line({ ...asked, responseStatus: forbidden(going) });
  expect(refusedIn(auditOf(text)).map(({ refusal }) => refusal)).toEqual([lacking]);
});

test('a refusal does not count if the right came or went with the namespace of a workspace', () => {
  const asked = (namespace: string) => ({ user: user('prune'), verb: 'list', objectRef: { ...events, namespace } });
  const refused = (namespace: string) => line({ ...asked(namespace), responseStatus: forbidden('no') });
  const none = line({ ...asked('ws-c'), responseStatus: { code: 404 } });
  const answered = refused('ws-a') + line(asked('ws-a')) + refused('ws-c') + none;
  const text = answered + refused('ws-b') + refused('lab') + line(asked('lab'));
  expect(refusedIn(auditOf(text)).map(({ namespace }) => namespace)).toEqual(['ws-b', 'lab']);
});

test('writes are counted where they were carried out', () => {
  const write = { user: user('start-sync'), verb: 'update', objectRef: { resource: 'leases' } };
  const text =
    patched + line(write) + line({ ...write, responseStatus: { code: 409 } }) + line({ ...write, verb: 'get' });
  expect(Object.fromEntries(writesByAccount(auditOf(text).requests))).toEqual({ 'start-sync': 2 });
});

test('the user who deletes a Pod is named, with the client and the answer', () => {
  const pods = { resource: 'pods', namespace: 'lab', name: 'importer-a', apiVersion: 'v1' };
  const deleted = { user: { username: 'kubernetes-admin' }, userAgent: 'node', verb: 'delete', objectRef: pods };
  const text =
    line({ ...deleted, requestReceivedTimestamp: '2025-12-31T23:59:59.000000Z' }) +
    line(deleted) +
    line({ ...deleted, verb: 'get' }) +
    line({ ...deleted, objectRef: { ...pods, namespace: 'another' } }) +
    line({ ...deleted, verb: 'deletecollection', objectRef: { resource: 'pods', namespace: 'lab' } });
  expect(podDeletionsIn(text, 'lab', Date.parse('2026-01-01T00:00:00Z'))).toEqual([
    { time: '2026-01-01T00:00:00.500000Z', pod: 'importer-a', by: 'kubernetes-admin (node), answer 200' },
    { time: '2026-01-01T00:00:00.500000Z', pod: undefined, by: 'kubernetes-admin (node), answer 200' },
  ]);
  expect(auditOf(text).requests).toEqual([]);
});

test('the policy logs the operator, what is asked about it and who deletes Pods, and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'audit-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [policyFile, logFile] = [join(folder, 'policy.yaml'), join(folder, 'audit.log')];
  const args = await auditArguments(policyFile, logFile);
  expect(args).toEqual(expect.arrayContaining([`--audit-policy-file=${policyFile}`, `--audit-log-path=${logFile}`]));
  const { rules } = parse(await readFile(policyFile, 'utf8'));
  expect(rules.map(({ level }: { level: string }) => level)).toEqual(['Metadata', 'Request', 'Metadata', 'None']);
  await expect(readAudit(logFile)).rejects.toThrow('ENOENT');
});

test('a write that was not validated against the definition of its kind is reported', () => {
  const requestURI = '/api/v1/namespaces/lab/events?fieldManager=prune&fieldValidation=Strict';
  const strict = line({ user: user('prune'), verb: 'create', objectRef: events, requestURI });
  const deleted = line({ user: user('prune'), verb: 'delete', objectRef: { ...images, name: 'a' } });
  expect(laxlyWritten(auditOf(strict + deleted + patched + patched))).toEqual([
    'start-sync patch vmdiskimages.pelotech.ot/status',
  ]);
});
