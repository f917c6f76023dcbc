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

const of = (file: string, find: string, replace: string, tests: string | readonly string[], loses: string): Mutant => ({
  loses,
  file,
  find,
  replace,
  tests: typeof tests === 'string' ? [tests] : tests,
});

const composeWorkspace = 'functions/compose-workspace/decide.test.ts';
const provisionVm = 'functions/provision-vm/decide.test.ts';
const contentDigest = 'shared/images/content-digest.test.ts';
const dataVolumeTest = 'functions/start-sync/slots/data-volume.test.ts';
const followSync = 'functions/follow-sync/decide.test.ts';
const failures = 'functions/follow-sync/attempt/failure.test.ts';
const prune = 'functions/prune/decide.test.ts';

const home = 'functions/compose-workspace/namespace/plan.ts';
const digest = 'shared/images/content-digest.ts';
const dataVolume = 'functions/start-sync/slots/data-volume.ts';
const failure = 'functions/follow-sync/attempt/failure.ts';
const unaffected = 'functions/follow-sync/unaffected.ts';
const unsettled = 'shared/images/unsettled.ts';
const attempts = 'functions/start-sync/read/attempts.ts';
const attemptsTest = 'functions/start-sync/read/attempts.test.ts';
const startSyncReads = 'functions/start-sync/reads.test.ts';
const pruning = 'functions/prune/gather.ts';
const imageStatus = 'shared/images/status.ts';

/** Mistakes that the tests once did not notice, or that an invariant built on the same rules cannot notice. */
export const mutants: readonly Mutant[] = [
  of(home, "['Ingress', 'Egress']", "['Ingress']", composeWorkspace, "labs reach the cluster's network"),
  of(
    home,
    "['containerized-data-importer']",
    "['containerized-data-importer', 'app']",
    composeWorkspace,
    'Pods of that label bypass the network policy',
  ),
  of(
    'functions/compose-workspace/images/template.ts',
    "sourceType === 's3' && imageSecretRef ?",
    'imageSecretRef ?',
    composeWorkspace,
    "the policy's Secret is sent to the owner of any url",
  ),
  of(
    'functions/provision-vm/disk/image-ready.ts',
    "if (snapshot && conditionOf(conditions, 'Ready')?.status === 'True')",
    'if (snapshot)',
    provisionVm,
    'a disk is cloned from a snapshot that is lost',
  ),
  of(
    'functions/provision-vm/network/networks.ts',
    "macAddressOf(metadata.namespace ?? '', metadata.name",
    "macAddressOf('', metadata.name",
    'functions/provision-vm/guest/cloud-init.test.ts',
    'two labs on one bridge have the same MAC addresses',
  ),
  of(
    'functions/provision-vm/guest/guest.ts',
    "if (isReady) return { condition: isSo(type, 'GuestAnswers'",
    "if (instance) return { condition: isSo(type, 'GuestAnswers'",
    'functions/provision-vm/guest/guest.test.ts',
    'a machine is Ready whose guest does not answer',
  ),
  of(
    'functions/provision-vm/guest/guest.ts',
    "onFailure === 'Restart' ?",
    'onFailure ?',
    'functions/provision-vm/guest/guest.test.ts',
    'a guest that should only be reported is ended',
  ),
  of(
    'functions/provision-vm/kubevirt/kubevirt-machine.ts',
    "['spec', 'livenessProbe']",
    "['spec', 'none']",
    'functions/provision-vm/kubevirt/hardware.test.ts',
    'a guest is ended by a check that was taken out',
  ),
  of(
    'functions/provision-vm/kubevirt/hardware.ts',
    '{ cores: 1, sockets: count }',
    '{ cores: count }',
    'functions/provision-vm/kubevirt/hardware.test.ts',
    'KubeVirt refuses each machine with a preference that requires two CPUs',
  ),
  of(
    'functions/provision-vm/kubevirt/hardware.ts',
    '...(secureBoot ? { features',
    '...(!secureBoot ? { features',
    'functions/provision-vm/kubevirt/hardware.test.ts',
    'KubeVirt refuses each machine with Secure Boot',
  ),
  of(
    'functions/provision-vm/kubevirt/missing-hardware.ts',
    "if (!matchesAny(allowed, instancetype, '')) {",
    "if (matchesAny(['gone'], instancetype, '')) {",
    'functions/provision-vm/kubevirt/hardware.test.ts',
    'an author gets GPUs that the policy does not name',
  ),
  of(digest, '    spec.sourceType,\n', '', contentDigest, 'a changed sourceType downloads nothing'),
  of(digest, '    spec.checksum ?? null,\n', '', contentDigest, 'a changed checksum downloads nothing'),
  of(digest, '    spec.storageClass,\n', '', contentDigest, 'a changed storageClass downloads nothing'),
  of(digest, '    spec.snapshotClass,\n', '', contentDigest, 'a changed snapshotClass downloads nothing'),
  of(
    dataVolume,
    '  ...(certConfigMap ? { certConfigMap } : {}),\n',
    '',
    dataVolumeTest,
    'every download from a store with a private CA fails',
  ),
  of(dataVolume, '  ...(checksum ? { checksum } : {}),\n', '', dataVolumeTest, 'no checksum is verified'),
  of(
    failure,
    'status code: 40[13]\\b|got 40[13]\\b',
    'status code: 401\\b|got 401\\b',
    failures,
    'a forbidden url is downloaded retryLimit + 1 times',
  ),
  of(
    failure,
    '|larger than the reported available storage',
    '',
    failures,
    'an image too large for its disk is downloaded retryLimit + 1 times',
  ),
  of(
    'shared/runtime/http.ts',
    'const most = 700;',
    'const most = 7000;',
    'shared/runtime/http.test.ts',
    'an answer of more than 768 bytes stops the dispatcher of the Knative Broker',
  ),
  of(
    'shared/runtime/kube.ts',
    'const requestsInFlight = 32;',
    'const requestsInFlight = 3200;',
    'shared/runtime/kube.test.ts',
    'the API server refuses most of a thousand requests at once',
  ),
  of(
    'shared/runtime/reconcile.ts',
    'const decisionsAtOnce = 32;',
    'const decisionsAtOnce = 32000;',
    'shared/runtime/http.test.ts',
    'a reconcile of ten thousand images takes more memory than the function has',
  ),
  of(
    pruning,
    'const prunedAtOnce = 50;',
    'const prunedAtOnce = 5000;',
    'functions/prune/crowd.test.ts',
    'storage has to delete a thousand snapshots at once',
  ),
  of(
    pruning,
    '.sort((a, b) => a.since.localeCompare(b.since))',
    '',
    'functions/prune/crowd.test.ts',
    'unused images are deleted in no order',
  ),
  of(
    imageStatus,
    'id: digestOf([uid, revision, fact, time])',
    'id: digestOf([uid, revision, fact])',
    'shared/images/status.test.ts',
    'a consumer of events drops the second retry of a revision as a repeat',
  ),
  of(imageStatus, '.slice(-10)', '.slice(-3)', 'shared/images/status.test.ts', 'the history has three facts'),
  of(
    'functions/follow-sync/decide.ts',
    'To request another download: ',
    '',
    followSync,
    'no message says how to try again',
  ),
  of(
    unaffected,
    '!status?.restartCount && ',
    '',
    'functions/follow-sync/reads.test.ts',
    'an importer that began again downloads until the next sweep',
  ),
  of(
    unsettled,
    '!isRequested(image) :',
    'false :',
    'shared/images/unsettled.test.ts',
    'a snapshot that is asked for again is requested only by the next sweep',
  ),
  of(
    unsettled,
    'whyPrunable(image) !== undefined || ',
    '',
    'shared/images/unsettled.test.ts',
    'an image that is deleted while it waits is finalized only by the next audit',
  ),
  of(
    'functions/start-sync/gather.ts',
    'if (early?.isIdle) return unsettledIn(early.live.values(), nowMs);',
    'if (early?.isIdle) return [];',
    startSyncReads,
    'a pin of a finished image counts only from the next audit',
  ),
  of(
    'functions/start-sync/gather.ts',
    'known.lease?.metadata.resourceVersion !== slots.lease?.metadata.resourceVersion',
    'known.lease === undefined',
    startSyncReads,
    'a slot looks free that another process has just given',
  ),
  of(
    'functions/start-sync/read/classes.ts',
    'if (known && areAllKnown) return known;',
    'if (known) return known;',
    startSyncReads,
    'an image fails for a class that was created just before it',
  ),
  of(
    'functions/start-sync/gather.ts',
    '    unreadHolders: ofHolders.unreadHolders,',
    '    unreadHolders: new Set(),',
    startSyncReads,
    'the slot of a download that is still at work is given to another',
  ),
  of(
    attempts,
    ' && revision === 1 && attempt <= 1',
    ' && held.image !== undefined',
    attemptsTest,
    'a user who edits the Lease has one more download begin than there are slots',
  ),
  of(
    attempts,
    '[...found.filter(isTheirs), ...listed]',
    '[...found, ...listed]',
    attemptsTest,
    'a user who labels a DataVolume for another image gives it a slot out of turn',
  ),
  of(
    'functions/start-sync/read/idle.ts',
    ' && failQueued(image, { policy, inputs: new Map() }) === undefined',
    '',
    'functions/start-sync/read/idle.test.ts',
    'an image whose source is missing waits until the next sweep before it says so',
  ),
  of(
    'functions/start-sync/read/idle.ts',
    ' || lacksUnreachable(image)',
    '',
    'functions/start-sync/read/idle.test.ts',
    'an image whose source cannot be reached says until the next sweep that it waits for a slot',
  ),
  of(
    'functions/start-sync/read/idle.ts',
    '!hasBegunBefore(image) && ',
    '',
    'functions/start-sync/read/idle.test.ts',
    'a download of an image that waits again is overlooked until the next sweep',
  ),
  of(
    'functions/start-sync/decide.ts',
    'alone(image, image === last ? next : [])',
    'alone(image)',
    'functions/start-sync/decide.test.ts',
    'a crowd of new images is queued at the pace of their events',
  ),
  of(
    'deploy/console/authorize.ts',
    '!status.authenticated || ',
    '',
    'deploy/console/authorize.test.ts',
    'a token that the API server does not authenticate is accepted',
  ),
  of(
    'shared/images/references.ts',
    '  const { deletionTimestamp, uid } = image.metadata;\n',
    '  const { deletionTimestamp, uid } = image.metadata;\n  if (uid) return false;\n',
    [prune, provisionVm],
    'a deleted image is removed while machines use it',
  ),
  of(
    'shared/backoff.ts',
    'Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1))',
    '0 * (longestMs + firstMs + failures)',
    followSync,
    'a failed download is tried again at once',
  ),
  of(
    'shared/images/pruning.ts',
    'return sinceMs + values.pruneAfter;',
    'return sinceMs;',
    prune,
    'an image is deleted as soon as it is unused',
  ),
];
