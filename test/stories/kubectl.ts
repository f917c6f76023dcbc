import { expect } from 'vitest';
import { putImage } from './images.ts';
import { createMachine, untilMachine } from './machines.ts';
import { apply, ok } from './run-kubectl.ts';
import { createImage, untilPhase, withKubectl } from './world.ts';

/** The manifests of the users' own design document (VMDiskImage controller), but for the status block that is no YAML. */
const policy = `apiVersion: v1
kind: ConfigMap
metadata:
  name: sync-operator-policy
  # This should be in the same namespace as the operator
  namespace: sync-operator
data:
  # The maximum number of VMDiskImage allowed to be syncing at once.
  concurrency: "4"
  # The number of times to retry a failed sync.
  retryLimit: "2"
  # The initial duration to wait after a failure before retrying.
  retryBackoffDuration: "5m"
`;
const image = `apiVersion: "pelotech.ot/v1alpha1"
kind: "VMDiskImage"
metadata:
  name: "sync-workspace-123"
spec:
  storageClass: "gp3"
  snapshotClass: "ebs-snapshot"
  secretRef: "foo-bar"
  name: "harrison-vm"
  url: "https://s3.us-gov-west-1.amazonaws.com/uki-lrn-vm-images/images/lab-151/1.0.0/attacker.qcow2"
  sourceType: "s3"
  diskSize: "24Gi"
# The operator manages this section to provide real-time status and auditability.
status:
  phase: "Queued"
  message: "Request is waiting for an available worker."
`;

/** These need the real kubectl. */
export const stories = withKubectl({
  "the users' own manifests apply as they stand": {
    smoke: true,
    // What is created directly in an image namespace needs no line of allowedSources.
    policy: { imageNamespaces: 'lab' },
    run: async ({ kubectl }) => {
      const keys = ['--from-literal=accessKeyId=id', '--from-literal=secretKey=key'];
      await ok(kubectl('create', 'secret', 'generic', 'foo-bar', '-n', 'lab', ...keys));
      await ok(apply(kubectl, policy));
      const out = await ok(apply(kubectl, image, '-n', 'lab'));
      expect(out).toContain('vmdiskimage.pelotech.ot/sync-workspace-123 created');
      await ok(
        kubectl(
          'wait',
          '-n',
          'lab',
          '--for=jsonpath={.status.phase}=Syncing',
          'vmdi/sync-workspace-123',
          '--timeout=20s',
        ),
      );
    },
  },
  "a person's day: get, wide, wait, describe, annotate, events, delete": {
    quick: true,
    smoke: true,
    run: async (world) => {
      const { kubectl } = world;
      await putImage(world, 'day');
      await createImage(world, 'day');
      await ok(kubectl('wait', '-n', 'lab', '--for=condition=Ready', 'vmdi/day', '--timeout=20s'));
      expect(await ok(kubectl('get', 'vmdi', '-n', 'lab'))).toMatch(
        /NAME\s+PHASE\s+REASON\s+PROGRESS\s+PLACE\s+REFS\s+TERMINATING\s+AGE\nday\s+Succeeded\s+SnapshotReady\s+100%/,
      );
      expect(await ok(kubectl('get', 'vmdi', '-A', '-o', 'wide'))).toMatch(
        /ATTEMPTS\s+MESSAGE\s+HOLDERS\n.*Ready to clone from snapshot/,
      );
      expect(
        await ok(kubectl('get', 'vmdi', '-A', '--field-selector', 'status.phase=Succeeded', '-o', 'name')),
      ).toContain('vmdiskimage.pelotech.ot/day');
      const described = await ok(kubectl('describe', 'vmdi', 'day', '-n', 'lab'));
      expect(described).toMatch(/History:/);
      expect(described).toMatch(/Normal\s+SnapshotReady.*follow-sync/);
      expect(await ok(kubectl('events', '-n', 'lab', '--for', 'vmdi/day'))).toContain('SnapshotReady');
      await ok(kubectl('annotate', 'vmdi/day', '-n', 'lab', 'pelotech.ot/sync-requested=now'));
      await ok(
        kubectl('wait', '-n', 'lab', '--for=jsonpath={.status.snapshot.revision}=2', 'vmdi/day', '--timeout=20s'),
      );
      await ok(kubectl('delete', 'vmdi', 'day', '-n', 'lab', '--timeout=20s'));
      expect(await ok(kubectl('get', 'dv,pvc,volumesnapshots', '-n', 'lab', '-o', 'name'))).toBe('');
    },
  },
  'a deleted image that a machine holds differs from a usable one, within 100 columns': async (world) => {
    const { kubectl } = world;
    await putImage(world, 'ubuntu-2204');
    await createImage(world, 'ubuntu-2204');
    await createMachine(world, 'desktop-1', 'ubuntu-2204');
    await untilMachine(world, 'desktop-1', 'Ready');
    await ok(kubectl('delete', 'vmdi', 'ubuntu-2204', '-n', 'lab', '--wait=false'));
    await ok(kubectl('wait', '--for=condition=DeletionHeld', 'vmdi/ubuntu-2204', '-n', 'lab', '--timeout=20s'));
    const table = await ok(kubectl('get', 'vmdi', '-A'));
    expect(table).toMatch(/lab\s+ubuntu-2204\s+Succeeded\s+DeletionHeld\s+100%\s+1\s+\d+s\s+\d+s/);
    expect(table.split('\n').filter((line) => line.trimEnd().length > 100)).toEqual([]);
    expect(await ok(kubectl('get', 'vmdi', '-A', '-o', 'wide'))).toContain('still used by 1 machine: lab/desktop-1');
    expect(await ok(kubectl('get', 'ot', '-A'))).toMatch(/otvm|virtualmachine.pelotech.ot\/desktop-1\s+Ready/);
  },
  'kubectl wait for condition Stalled ends as soon as an image has failed, and says why': async (world) => {
    const { kubectl } = world;
    await createImage(world, 'nothing-there');
    await ok(kubectl('wait', '-n', 'lab', '--for=condition=Stalled', 'vmdi/nothing-there', '--timeout=20s'));
    const cause = '{.status.conditions[?(@.type=="Stalled")].reason}';
    expect(await ok(kubectl('get', 'vmdi', 'nothing-there', '-n', 'lab', '-o', `jsonpath=${cause}`))).toMatch(
      /^(NotFound|SourceMissing)$/,
    );
  },
  'an edit of the policy with kubectl counts at once': {
    smoke: true,
    policy: { concurrency: '0' },
    run: async (world) => {
      await putImage(world, 'a');
      await createImage(world, 'a');
      await untilPhase(world, 'a', 'Queued');
      const edit = '{"data":{"concurrency":"1"}}';
      await ok(
        world.kubectl('patch', 'configmap', 'sync-operator-policy', '-n', 'sync-operator', '--type=merge', '-p', edit),
      );
      await untilPhase(world, 'a', 'Succeeded');
    },
  },
});
