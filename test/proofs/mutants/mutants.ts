/** A mistake in one line, and the tests that have to notice it. */
export interface Mutant {
  /** What a user loses by it. */
  loses: string;
  file: string;
  /** Occurs once in the file. */
  find: string;
  replace: string;
  /** The test files. An assertion in one of them has to fail. */
  tests: readonly string[];
}

/** Mistakes in a file: by what is lost, the text and its replacement. */
const of = (
  file: string,
  tests: 'its own' | (string & {}) | readonly string[],
  mistakes: Readonly<Record<string, readonly [find: string, replace: string]>>,
): Mutant[] =>
  Object.entries(mistakes).map(([loses, [find, replace]]) => ({
    loses,
    file,
    find,
    replace,
    tests: tests === 'its own' ? [file.replace(/ts$/, 'test.ts')] : [tests].flat(),
  }));

const composeWorkspace = 'functions/compose-workspace/decide.test.ts';
const provisionVm = 'functions/provision-vm/decide.test.ts';
const hardware = 'functions/provision-vm/kubevirt/hardware.test.ts';
const startSyncReads = 'functions/start-sync/reads.test.ts';
const prune = 'functions/prune/decide.test.ts';
const followSync = 'functions/follow-sync/decide.test.ts';

/** Mistakes that the tests once did not notice, or that an invariant built on the same rules cannot notice. */
export const mutants: readonly Mutant[] = [
  ...of('functions/compose-workspace/namespace/plan.ts', composeWorkspace, {
    "workspaces reach the cluster's network": ["['Ingress', 'Egress']", "['Ingress']"],
    'Pods of that label bypass the network policy': [
      "['containerized-data-importer']",
      "['containerized-data-importer', 'app']",
    ],
  }),
  ...of('functions/compose-workspace/images/template.ts', composeWorkspace, {
    "the policy's Secret is sent to the owner of any url": [
      "sourceType === 's3' && imageSecretRef ?",
      'imageSecretRef ?',
    ],
  }),
  ...of('functions/provision-vm/disk/image-ready.ts', provisionVm, {
    'a disk is cloned from a snapshot that is lost': [
      "if (snapshot && conditionOf(conditions, 'Ready')?.status === 'True')",
      'if (snapshot)',
    ],
  }),
  ...of('functions/provision-vm/network/networks.ts', 'functions/provision-vm/guest/cloud-init.test.ts', {
    'two workspaces on one bridge have the same MAC addresses': [
      "macAddressOf(metadata.namespace ?? '', metadata.name",
      "macAddressOf('', metadata.name",
    ],
  }),
  ...of('functions/provision-vm/guest/guest.ts', 'its own', {
    'a machine is Ready whose guest does not answer': [
      "if (isReady) return { condition: isSo(type, 'GuestAnswers'",
      "if (instance) return { condition: isSo(type, 'GuestAnswers'",
    ],
    'a guest that should only be reported is ended': ["onFailure === 'Restart' ?", 'onFailure ?'],
  }),
  ...of('functions/provision-vm/kubevirt/kubevirt-machine.ts', hardware, {
    'a guest is ended by a check that was taken out': ["['spec', 'livenessProbe']", "['spec', 'none']"],
  }),
  ...of('functions/provision-vm/kubevirt/hardware.ts', 'its own', {
    'KubeVirt refuses each machine with a preference that requires two CPUs': [
      '{ cores: 1, sockets: count }',
      '{ cores: count }',
    ],
    'KubeVirt refuses each machine with Secure Boot': ['...(secureBoot ? { features', '...(!secureBoot ? { features'],
  }),
  ...of('functions/provision-vm/kubevirt/missing-hardware.ts', hardware, {
    'an author gets GPUs that the policy does not name': [
      "if (!matchesAny(allowed, instancetype, '')) {",
      "if (matchesAny(['gone'], instancetype, '')) {",
    ],
  }),
  ...of('shared/images/content-digest.ts', 'its own', {
    'a changed sourceType downloads nothing': ['    spec.sourceType,\n', ''],
    'a changed checksum downloads nothing': ['    spec.checksum ?? null,\n', ''],
    'a changed storageClass downloads nothing': ['    spec.storageClass,\n', ''],
    'a changed snapshotClass downloads nothing': ['    spec.snapshotClass,\n', ''],
  }),
  ...of('functions/start-sync/slots/data-volume.ts', 'its own', {
    'every download from a store with a private CA fails': ['  ...(certConfigMap ? { certConfigMap } : {}),\n', ''],
    'no checksum is verified': ['  ...(checksum ? { checksum } : {}),\n', ''],
  }),
  ...of('functions/follow-sync/attempt/failure.ts', 'its own', {
    'a forbidden url is downloaded retryLimit + 1 times': [
      'status code: 40[13]\\b|got 40[13]\\b',
      'status code: 401\\b|got 401\\b',
    ],
    'an image too large for its disk is downloaded retryLimit + 1 times': [
      '|larger than the reported available storage',
      '',
    ],
  }),
  ...of('shared/runtime/http.ts', 'its own', {
    'an answer of more than 768 bytes stops the dispatcher of the Knative Broker': [
      'const most = 700;',
      'const most = 7000;',
    ],
  }),
  ...of('shared/runtime/kube.ts', 'its own', {
    'the API server refuses most of a thousand requests at once': [
      'const requestsInFlight = 32;',
      'const requestsInFlight = 3200;',
    ],
  }),
  ...of('shared/runtime/reconcile.ts', 'shared/runtime/http.test.ts', {
    'a reconcile of ten thousand images takes more memory than the function has': [
      'const decisionsAtOnce = 32;',
      'const decisionsAtOnce = 32000;',
    ],
  }),
  ...of('shared/runtime/beside.ts', 'its own', {
    'what happens to an image while it is being queued is found by the next sweep': [
      'if (one) one.isNamed = true;',
      '',
    ],
    'what is left of a crowd of new images waits for an event': [
      'if (!next || busy.size > mostBeside / 2) return;',
      'return;',
    ],
  }),
  ...of('functions/start-sync/index.ts', 'functions/start-sync/crowd.test.ts', {
    'a slot that becomes free waits for a crowd of new images': [
      'one.assignsSlots ? undefined : one.images[0]',
      'one.assignsSlots ? undefined : undefined',
    ],
  }),
  ...of('functions/start-sync/slots/assign-slots.ts', 'functions/start-sync/decide.test.ts', {
    'an image that is just being queued is overtaken': ['undecided?.has(image.metadata.uid) || ', ''],
  }),
  ...of('functions/prune/gather.ts', 'functions/prune/crowd.test.ts', {
    'storage has to delete a thousand snapshots at once': ['const prunedAtOnce = 50;', 'const prunedAtOnce = 5000;'],
    'unused images are deleted in no order': ['.sort((a, b) => a.since.localeCompare(b.since))', ''],
  }),
  ...of('shared/images/status.ts', 'its own', {
    'a consumer of events drops the second retry of a revision as a repeat': [
      'id: digestOf([uid, revision, fact, time])',
      'id: digestOf([uid, revision, fact])',
    ],
    'the history has three facts': ['.slice(-10)', '.slice(-3)'],
  }),
  ...of('functions/follow-sync/status.ts', followSync, {
    'no message says how to try again': ['To request another download: ', ''],
  }),
  ...of('functions/follow-sync/unaffected.ts', 'functions/follow-sync/reads.test.ts', {
    'an importer that began again downloads until the next sweep': ['restartCount > 0 || ', ''],
    'a finished download is snapshotted only by the next sweep': [' && !isDownloaded(dataVolume)', ''],
  }),
  ...of('shared/images/unsettled.ts', 'its own', {
    'a snapshot that is asked for again is requested only by the next sweep': ['!isRequested(image) :', 'false :'],
    'an image that is deleted while it waits is finalized only by the next audit': [
      'whyPrunable(image) !== undefined || ',
      '',
    ],
  }),
  ...of('functions/start-sync/gather.ts', startSyncReads, {
    'a pin of a finished image counts only from the next audit': [
      'if (early?.isIdle) return unsettledIn(early.live.values(), nowMs);',
      'if (early?.isIdle) return [];',
    ],
    'a slot looks free that another process has just given': [
      'known.lease?.metadata.resourceVersion !== slots.lease?.metadata.resourceVersion',
      'known.lease === undefined',
    ],
    'the slot of a download that is still at work is given to another': [
      '    unreadHolders: ofHolders.unreadHolders,',
      '    unreadHolders: new Set(),',
    ],
  }),
  ...of('functions/start-sync/read/classes.ts', startSyncReads, {
    'an image fails for a class that was created just before it': [
      'if (known && areAllKnown) return known;',
      'if (known) return known;',
    ],
  }),
  ...of('functions/start-sync/read/attempts.ts', 'its own', {
    'a user who edits the Lease has one more download begin than there are slots': [
      ' && revision === 1 && attempt <= 1',
      ' && held.image !== undefined',
    ],
    'a user who labels a DataVolume for another image gives it a slot out of turn': [
      '[...found.filter(isTheirs), ...listed]',
      '[...found, ...listed]',
    ],
  }),
  ...of('functions/start-sync/read/idle.ts', 'its own', {
    'an image whose source is missing waits until the next sweep before it says so': [
      ' && failQueued(image, { policy, inputs: new Map() }) === undefined',
      '',
    ],
    'an image whose source cannot be reached says until the next sweep that it waits for a slot': [
      ' || lacksUnreachable(image)',
      '',
    ],
    'a download of an image that waits again is overlooked until the next sweep': ['!hasBegunBefore(image) && ', ''],
  }),
  ...of('functions/start-sync/queue/new-images.ts', 'functions/start-sync/decide.test.ts', {
    'a crowd of new images is queued at the pace of their events': ['=> room + 1', '=> room'],
  }),
  ...of('deploy/console/authorize.ts', 'its own', {
    'a token that the API server does not authenticate is accepted': ['!status.authenticated || ', ''],
  }),
  ...of('shared/images/references.ts', [prune, provisionVm], {
    'a deleted image is removed while machines use it': [
      '  const { deletionTimestamp, uid } = image.metadata;\n',
      '  const { deletionTimestamp, uid } = image.metadata;\n  if (uid) return false;\n',
    ],
  }),
  ...of('shared/backoff.ts', followSync, {
    'a failed download is tried again at once': [
      'Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1))',
      '0 * (longestMs + firstMs + failures)',
    ],
  }),
  ...of('shared/images/pruning.ts', prune, {
    'an image is deleted as soon as it is unused': ['return sinceMs + values.pruneAfter;', 'return sinceMs;'],
  }),
];
