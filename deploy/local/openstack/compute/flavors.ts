import * as z from 'zod';
import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { pageOf } from '../paging.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import { mustBeAdmin } from './refusals.ts';
import { linksOf } from './shown-server.ts';
import type { Flavor } from './state.ts';

const number = z.coerce.number().int();
const NewFlavor = z.object({
  flavor: z.object({
    id: z.string().nullish(),
    name: z.string().min(1).max(255),
    vcpus: number.min(1, '0 is less than the minimum of 1'),
    ram: number.min(1, '0 is less than the minimum of 1'),
    disk: number.min(0),
    swap: number.min(0).default(0),
    'OS-FLV-EXT-DATA:ephemeral': number.min(0).default(0),
    rxtx_factor: z.coerce.number().default(1),
    description: z.string().nullish(),
    'os-flavor-access:is_public': z.boolean().default(true),
  }),
});
/** Flavors, public and private ones. */
export function flavorRoutes(cloud: Cloud): Route[] {
  const { flavors } = cloud.compute;
  const found = ({ params: { id = '' }, caller }: Asked) => {
    const known = flavors.get(id);
    if (!known || !mayUse(known, caller)) throw new Refusal(404, `Flavor ${id} could not be found.`);
    return known;
  };
  return [
    route('GET /flavors/detail', 'listFlavors', (asked) => {
      const { items, next } = pageOf(listedFlavors(cloud, asked), asked.query, ({ id }) => id);
      const href = `${cloud.url}/compute/v2.1/flavors/detail?${next}`;
      const links = next !== undefined && { flavors_links: [{ rel: 'next', href }] };
      return ok({ flavors: items.map((flavor) => shownFlavor(cloud, flavor, asked)), ...links });
    }),
    route('POST /flavors', 'createFlavor', (asked) => {
      mustBeAdmin(asked, 'os-flavor-manage:create');
      const { flavor: wanted } = bodyAs(NewFlavor, asked.body);
      const { name, vcpus, ram, disk, swap } = wanted;
      if ([...flavors.values()].some((each) => each.name === name))
        throw new Refusal(409, `Flavor with name ${name} already exists.`);
      const id = wanted.id && wanted.id !== 'auto' ? wanted.id : cloud.ids.uuid();
      if (flavors.has(id)) throw new Refusal(409, `Flavor with ID ${id} already exists.`);
      const made: Flavor = {
        ...{ id, name, vcpus, ram, disk, swap },
        ephemeral: wanted['OS-FLV-EXT-DATA:ephemeral'],
        rxtxFactor: wanted.rxtx_factor,
        description: wanted.description ?? null,
        isPublic: wanted['os-flavor-access:is_public'],
        extraSpecs: {},
      };
      flavors.set(id, made);
      return ok({ flavor: shownFlavor(cloud, made, asked) });
    }),
    route('GET /flavors/:id', 'showFlavor', (asked) => ok({ flavor: shownFlavor(cloud, found(asked), asked) })),
    // Also while servers use it: each has its own copy (nova 26: 202).
    route('DELETE /flavors/:id', 'deleteFlavor', (asked) => {
      mustBeAdmin(asked, 'os-flavor-manage:delete');
      flavors.delete(found(asked).id);
      return done(202);
    }),
  ];
}

/** A private flavor is visible to administrators only: access to it is given to no project here. */
export const mayUse = ({ isPublic }: Flavor, caller: Asked['caller']) => isPublic || caller.isAdmin;

function listedFlavors({ compute }: Cloud, { caller, query }: Asked): Flavor[] {
  const asked = query.get('is_public')?.toLowerCase();
  const isWanted = (flavor: Flavor) => {
    if (!caller.isAdmin || asked === undefined) return flavor.isPublic;
    if (asked === 'none') return true;
    return flavor.isPublic === ['1', 'true', 't', 'yes', 'on'].includes(asked);
  };
  const least = (name: string) => Number(query.get(name) ?? 0);
  return [...compute.flavors.values()]
    .filter((flavor) => isWanted(flavor) && flavor.ram >= least('minRam') && flavor.disk >= least('minDisk'))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** A flavor as Nova shows it. */
const shownFlavor = (cloud: Cloud, flavor: Flavor, { minor }: Asked) => ({
  id: flavor.id,
  name: flavor.name,
  ram: flavor.ram,
  disk: flavor.disk,
  swap: flavor.swap === 0 && minor < 75 ? '' : flavor.swap,
  'OS-FLV-EXT-DATA:ephemeral': flavor.ephemeral,
  'OS-FLV-DISABLED:disabled': false,
  vcpus: flavor.vcpus,
  'os-flavor-access:is_public': flavor.isPublic,
  rxtx_factor: flavor.rxtxFactor,
  links: linksOf(cloud, 'flavors', flavor.id),
  ...(minor >= 55 && { description: flavor.description }),
  ...(minor >= 61 && { extra_specs: flavor.extraSpecs }),
});
