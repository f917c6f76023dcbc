import * as followSync from '../../../functions/follow-sync/decide.ts';
import type { Observed } from '../../../functions/follow-sync/observed.ts';
import * as startSync from '../../../functions/start-sync/decide.ts';
import type { Gathered } from '../../../functions/start-sync/observed.ts';
import type { Action } from '../../../shared/actions.ts';
import { contentDigest } from '../../../shared/images/content-digest.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import { aLease, aVMDiskImage, type ImageOptions, start, theirSecret } from '../builders/images.ts';

type Data = { data?: Record<string, string> };

/** The classes that a test's images name. */
export const classes = { storage: new Map([['gp3', 'ebs']]), snapshot: new Map([['ebs-snapshot', 'ebs']]) };

/** What start-sync gathers of these images while all slots are free and nothing was made for them. */
export const gathered = (
  images: readonly VMDiskImage[],
  { data, ...more }: Partial<Gathered> & Data = {},
): Gathered => ({
  nowMs: start + 100_000,
  policy: parsePolicy({ data: { inspectTimeout: '0s', ...data } }),
  policyMap: undefined,
  lease: aLease([]),
  images,
  unfinished: images,
  unreadHolders: new Set(),
  dataVolumes: [],
  pods: [],
  claims: [],
  snapshots: [],
  classes,
  inputs: theirSecret,
  donors: new Map(),
  refusals: new Map(),
  isAudit: false,
  isTimed: false,
  isAboutAll: false,
  gracePeriodMs: 10_000,
  beside: { busy: new Set(), room: 50, isAwaited: false },
  ...more,
});

/** All that start-sync's decisions about these images come to, one after the other. */
export const startSyncOf = (images: readonly VMDiskImage[], more?: Partial<Gathered> & Data): Action[] =>
  startSync.split(gathered(images, more)).flatMap(startSync.decide);

/** What follow-sync decides about an image for which nothing was made unless given. */
export const followSyncOf = (image: VMDiskImage, { data = {}, ...more }: Partial<Observed> & Data = {}): Action[] =>
  followSync.decide({
    nowMs: start + 60_000,
    policy: parsePolicy({ data }),
    image,
    dataVolumes: [],
    pods: [],
    snapshots: [],
    isSnapshotGone: false,
    isAudit: false,
    isNamed: false,
    refusals: new Map(),
    ...more,
  });

/** An image whose status knows its spec, or the one that it had before; where it failed, it has Stalled beside Ready. */
export const known = (options: ImageOptions = {}, before = options): VMDiskImage => {
  const { phase, conditions = [] } = options.status ?? {};
  const ready = phase === 'Failed' ? conditions.find(({ type }) => type === 'Ready') : undefined;
  return aVMDiskImage({
    ...options,
    status: {
      revision: 1,
      attempt: 0,
      attempts: 0,
      contentDigest: contentDigest(aVMDiskImage(before)),
      ...options.status,
      ...(ready ? { conditions: [...conditions, { ...ready, type: 'Stalled', status: 'True' }] } : {}),
    },
  });
};

/** The actions of one kind. */
export const only = <Do extends Action['do']>(actions: readonly Action[], verb: Do) =>
  actions.filter((action): action is Extract<Action, { do: Do }> => action.do === verb);

export const statusesIn = (actions: readonly Action[]) => only(actions, 'patchStatus').map(({ status }) => status);

/** What is done beside notifications. */
export const verbsIn = (actions: readonly Action[]) =>
  actions.map(({ do: verb }) => verb).filter((verb) => !['recordEvent', 'publish', 'measure'].includes(verb));
