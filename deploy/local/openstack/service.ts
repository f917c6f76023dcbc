import type { Refusal } from './refusal.ts';
import type { Route } from './route.ts';

/** The OpenStack projects that are simulated here. */
export type ServiceName = 'identity' | 'compute' | 'network' | 'volume' | 'image';

/** One of them: what it answers, and how it says no. */
export interface Service {
  name: ServiceName;
  /** Where its paths begin: `/compute/v2.1`. */
  prefix: string;
  routes: readonly Route[];
  /** The body of a refusal, in the service's own shape. */
  refusalBody(refusal: Refusal): unknown;
  /** That of a 401, where it is not Keystone's. */
  unauthorizedBody?(refusal: Refusal): unknown;
  /** The microversions it speaks: the major number and the highest minor, and the word in the header. */
  versions?: { major: number; maxMinor: number; minMinor: number; type: string };
}
