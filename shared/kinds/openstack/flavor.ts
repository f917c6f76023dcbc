import * as z from 'zod';
import { requestTo, step } from './request.ts';

/** What a machine may use of a host; `ram` and `swap` are MiB, `disk` is GiB. */
export const Flavor = z.object({
  id: z.string(),
  name: z.string(),
  vcpus: z.number(),
  ram: z.number(),
  // "" instead of 0 before microversion 2.75.
  swap: z.union([z.number(), z.literal('').transform(() => 0)]).default(0),
  disk: z.number().default(0),
  'os-flavor-access:is_public': z.boolean().default(true),
});
export type Flavor = z.infer<typeof Flavor>;

/** The numbers of a flavor: that is all a machine wants of one. */
export interface Size {
  vcpus: number;
  /** MiB. */
  ram: number;
  /** MiB. */
  swap: number;
}

const prefix = 'kup-';

/** What a flavor of ours is called: a function of its numbers, so that machines of one size share one. */
export const flavorName = ({ vcpus, ram, swap }: Size) => `${prefix}${vcpus}c-${ram}m-${swap}s`;

export const isOurs = (flavor: Flavor) => flavor.name === flavorName(flavor);

export const hasSize = ({ vcpus, ram, swap }: Size, of: Size) =>
  of.vcpus === vcpus && of.ram === ram && of.swap === swap;

const request = requestTo('compute');

/** All that the project may use. */
export const listFlavors = () => request('listFlavors', 'GET', '/flavors/detail');

/** For administrators only (nova 26: 403 for a member). */
export const createFlavor = (size: Size) =>
  request('createFlavor', 'POST', '/flavors', {
    body: { flavor: { name: flavorName(size), ...size, disk: 0, 'os-flavor-access:is_public': true } },
    about: flavorName(size),
  });

/** Also while servers use it: Nova copies its numbers into each. */
export const deleteFlavor = (id: string) => request('deleteFlavor', 'DELETE', `/flavors/${step(id)}`, { about: id });
