import { beforeAll, describe, expect, test } from 'vitest';
import { runCommandLine, runInstaller } from './commands.ts';
import { applyText, imageUnderTest, prepare } from './installation.ts';
import { kubectl, kubectlOrFail } from './kubectl.ts';

const operator = ['--namespace', 'sync-operator'];
const succeeds = async (...args: string[]) => {
  const ran = await runInstaller(...args);
  expect(ran).toMatchObject({ code: 0, err: '' });
  return ran.out;
};

/** uids of the Subscriptions there are, and of those the Brokers' channels send to. */
async function subscribers() {
  const jsonpath = (path: string, ...what: string[]) =>
    kubectlOrFail('get', ...what, ...operator, `--output=jsonpath=${path}`).then((text) => text.split(' ').sort());
  return {
    known: await jsonpath('{.items[*].metadata.uid}', 'subscriptions.messaging.knative.dev'),
    sentTo: await jsonpath('{.items[*].spec.subscribers[*].uid}', 'inmemorychannels'),
  };
}

/** An image that carries our finalizer. */
const anImage = (name: string) =>
  applyText(`
apiVersion: pelotech.ot/v1alpha1
kind: VMDiskImage
metadata: { name: ${name}, namespace: default, finalizers: [pelotech.ot/disk-image] }
spec:
  url: https://s3.example.com/images/${name}.qcow2
  secretRef: s3-reader
  storageClass: none
  snapshotClass: none
  diskSize: 1Gi
`);

/** Deletes an image as an admin who does not wait. */
const deleteImage = (name: string) => kubectl('delete', `vmdi/${name}`, '--namespace=default', '--timeout=10s');

describe('the installer', { timeout: 600_000 }, () => {
  beforeAll(async () => {
    await prepare();
    // Whatever was there before, by whatever means it came.
    await succeeds('uninstall', '--delete-machines', '--delete-images', '--delete-crds');
    await kubectl('delete', 'namespace', 'sync-operator', '--ignore-not-found', '--wait=true');
  }, 600_000);

  test('check says what the cluster has, for people and for programs', async () => {
    const { isMet, requirements } = JSON.parse(await succeeds('check', '--overlay', 'deployments', '--json'));
    expect(isMet).toBe(true);
    expect(requirements).toContainEqual(expect.objectContaining({ name: 'Kubernetes', result: 'ok' }));
    expect(await succeeds('check', '--overlay', 'deployments')).toMatch(/ok +Kubernetes/);
  });

  test('install refuses to guess where the image of the functions is', async () => {
    const { code, err } = await runInstaller('install', '--overlay', 'deployments');
    expect(code).toBe(1);
    expect(err).toContain('Add --image');
  });

  test('install brings everything up, and makes no Subscription that the channel does not know', async () => {
    const out = await succeeds('install', '--overlay', 'deployments', '--image', imageUnderTest());
    const sources = await kubectlOrFail('get', 'apiserversources,pingsources', ...operator, '--output=name');
    expect(out).toContain(`sources: ${sources.trim().split('\n').length} objects are up`);
    const { known, sentTo } = await subscribers();
    expect(known.length).toBeGreaterThanOrEqual(4);
    expect(sentTo).toEqual(known);
  });

  test('the doctor finds all of it whole; what CDI and the site would bring is not there', async () => {
    const { out } = await runCommandLine('doctor', '--json');
    const { findings } = JSON.parse(out) as { findings: { name: string }[] };
    const names = findings.map(({ name }) => name);
    expect(names.filter((name) => !['StorageProfile gp3', 'Secret vmdi-farm/s3-reader'].includes(name))).toEqual([]);
  });

  test('upgrade changes what differs, removes what is not wanted, and leaves no dead subscriber', async () => {
    const triggers = (await kubectlOrFail('get', 'triggers', ...operator, '--output=name')).trim().split('\n');
    const patch = JSON.stringify({ spec: { delivery: { retry: 7 } } });
    // All at once, so that Knative recreates all Subscriptions together.
    await Promise.all(
      triggers.map((name) => kubectlOrFail('patch', name, ...operator, '--type=merge', `--patch=${patch}`)),
    );
    const ofBefore = `
apiVersion: eventing.knative.dev/v1
kind: Trigger
metadata: { name: of-before, namespace: sync-operator, labels: { app.kubernetes.io/part-of: ot-functions } }
spec: { broker: default, subscriber: { ref: { apiVersion: v1, kind: Service, name: prune } } }
`;
    await applyText(ofBefore, '--field-manager=ot-install');
    await kubectlOrFail(
      'patch',
      'configmap/sync-operator-policy',
      ...operator,
      '--type=merge',
      '--patch={"data":{"concurrency":"9"}}',
    );
    const out = await succeeds('upgrade');
    expect(out).toContain('Trigger of-before removed');
    expect(out).toContain('Trigger start-sync-images changed');
    expect(out).not.toContain('Deployment start-sync changed');
    const { known, sentTo } = await subscribers();
    expect(sentTo).toEqual(known);
    expect(known).toHaveLength(triggers.length);
    const policy = await kubectlOrFail(
      'get',
      'configmap/sync-operator-policy',
      ...operator,
      '--output=jsonpath={.data.concurrency}',
    );
    expect(policy).toBe('9');
  });

  test('uninstall leaves images, and nothing else of ours; an image can then be deleted at once', async () => {
    await anImage('kept');
    const out = await succeeds('uninstall');
    expect(out).toMatch(/the policy was \{.*"concurrency":"9"/);
    for (const kind of ['clusterroles', 'clusterrolebindings']) {
      expect(await kubectlOrFail('get', kind, '-l', 'app.kubernetes.io/part-of=ot-functions', '--output=name')).toBe(
        '',
      );
    }
    expect((await kubectl('get', 'namespace', 'sync-operator')).code).toBe(1);
    expect(await deleteImage('kept')).toMatchObject({ code: 0 });
  });

  test('an image that was deleted after the functions were removed is freed', async () => {
    await anImage('stranded');
    expect((await deleteImage('stranded')).code).toBe(1);
    expect(await succeeds('uninstall', '--finalizers-only')).toContain('finalizers: removed from 1 object');
    expect((await kubectl('get', 'vmdi/stranded', '--namespace=default')).code).toBe(1);
  });

  test('the CRDs go when they are asked to', async () => {
    await succeeds('uninstall', '--delete-crds');
    expect((await kubectl('get', 'customresourcedefinition/vmdiskimages.pelotech.ot')).code).toBe(1);
  });
});
