import type { common } from './common.ts';
import type { imageReasons } from './images.ts';
import type { machineReasons } from './machines.ts';
import type { openStackReasons } from './openstack.ts';
import type { workspaceReasons } from './workspaces.ts';

/** Every reason of conditions, statuses and Events that functions write: a word without a row does not compile. */
export type Reason =
  | keyof typeof common
  | keyof typeof imageReasons
  | keyof typeof machineReasons
  | keyof typeof workspaceReasons
  | keyof typeof openStackReasons
  | Repeated;

declare const mark: unique symbol;
type Repeated = string & { readonly [mark]: true };

/** Why something is as it is. */
export interface Cause {
  reason: Reason;
  message: string;
}

/** A reason that another system gave, or an earlier write, repeated as it was found. */
export const repeated = (word: string) => word as Repeated;
