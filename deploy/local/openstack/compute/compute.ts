import * as z from 'zod';
import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { noRoute, Refusal, webobBody } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import type { Service } from '../service.ts';
import { wordOf } from '../words.ts';
import { usageOf } from './create-server.ts';
import { flavorRoutes } from './flavors.ts';
import { keyPairRoutes } from './key-pairs.ts';
import { mustBeAdmin } from './refusals.ts';
import { serverRoutes } from './servers.ts';

/** Nova: servers, and what they are made of. */
export const computeService = (cloud: Cloud): Service => ({
  name: 'compute',
  prefix: '/compute/v2.1',
  versions: { major: 2, minMinor: 1, maxMinor: 93, type: 'compute' },
  routes: [
    versionRoute(cloud),
    ...flavorRoutes(cloud),
    ...keyPairRoutes(cloud),
    ...serverRoutes(cloud),
    ...quotaRoutes(cloud),
  ],
  refusalBody: (refusal: Refusal) =>
    refusal.kind === noRoute
      ? webobBody(refusal)
      : { [wordOf(refusal.status)]: { code: refusal.status, message: refusal.message } },
});

const versionRoute = (cloud: Cloud) =>
  route(
    'GET /',
    'showVersion',
    () =>
      ok({
        version: {
          id: 'v2.1',
          status: 'CURRENT',
          version: '2.93',
          min_version: '2.1',
          updated: '2013-07-23T11:33:21Z',
          links: [
            { rel: 'self', href: `${cloud.url}/compute/v2.1/` },
            { rel: 'describedby', type: 'text/html', href: 'http://docs.openstack.org/' },
          ],
          'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.compute+json;version=2.1' }],
        },
      }),
    true,
  );

const Limits = z.object({ quota_set: z.record(z.string(), z.union([z.coerce.number().int().min(-1), z.boolean()])) });

function quotaRoutes(cloud: Cloud): Route[] {
  const { quotas } = cloud.compute;
  const path = '/os-quota-sets/:of';
  const mayRead = ({ caller, params: { of = '' } }: Asked) => {
    if (!caller.isAdmin && caller.projectId !== of)
      throw new Refusal(403, "Policy doesn't allow os_compute_api:os-quota-sets:show to be performed.");
    return of;
  };
  return [
    route(`GET ${path}`, 'showComputeQuotas', (asked) => {
      const of = mayRead(asked);
      return ok({ quota_set: { id: of, ...quotas.of(of) } });
    }),
    route(`GET ${path}/detail`, 'showComputeUsage', (asked) => {
      const of = mayRead(asked);
      const used: Record<string, number> = usageOf(cloud, of);
      const limits = Object.entries(quotas.of(of)).map(([name, limit]) => [
        name,
        { limit, in_use: used[name] ?? 0, reserved: 0 },
      ]);
      return ok({ quota_set: { id: of, ...Object.fromEntries(limits) } });
    }),
    route(`PUT ${path}`, 'updateComputeQuotas', (asked) => {
      mustBeAdmin(asked, 'os-quota-sets:update');
      const limits = Object.entries(bodyAs(Limits, asked.body).quota_set).filter(
        ([, limit]) => typeof limit === 'number',
      );
      quotas.set(asked.params.of ?? '', Object.fromEntries(limits) as Record<string, number>);
      return ok({ quota_set: quotas.of(asked.params.of ?? '') });
    }),
    route(`DELETE ${path}`, 'resetComputeQuotas', (asked) => {
      mustBeAdmin(asked, 'os-quota-sets:delete');
      quotas.reset(asked.params.of ?? '');
      return done(202);
    }),
  ];
}
