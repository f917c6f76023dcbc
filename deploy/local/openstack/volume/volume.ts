import * as z from 'zod';
import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import { type Answer, type Asked, ok, type Route, route } from '../route.ts';
import type { Service } from '../service.ts';
import { wordOf } from '../words.ts';
import { usageOf } from './create-volume.ts';
import { volumeRoutes } from './volumes.ts';

/** Cinder: disks that outlive the servers that have them. */
export const volumeService = (cloud: Cloud): Service => ({
  name: 'volume',
  prefix: '/volume/v3',
  versions: { major: 3, minMinor: 0, maxMinor: 70, type: 'volume' },
  routes: [...volumeRoutes(cloud), ...quotaRoutes(cloud)].map(inOwnProject),
  refusalBody: ({ status, message }: Refusal) => ({
    [wordOf(status)]: { code: status, message, ...(status === 413 && { retryAfter: '0' }) },
  }),
});

/** The project in the path must be that of the token, an administrator's too. */
const inOwnProject = (each: Route): Route => ({
  ...each,
  answer: (asked: Asked): Answer | Promise<Answer> => {
    if (asked.params.project !== asked.caller.projectId) throw new Refusal(400, 'Malformed request url');
    return each.answer(asked);
  },
});

const Limits = z.object({ quota_set: z.record(z.string(), z.union([z.number().int().min(-1), z.string()])) });

function quotaRoutes(cloud: Cloud): Route[] {
  const { quotas } = cloud.volume;
  const path = '/:project/os-quota-sets/:of';
  const mayWrite = ({ caller }: Asked) => {
    if (!caller.isAdmin) throw new Refusal(403, "Policy doesn't allow volume_extension:quotas:update to be performed.");
  };
  const shown = (project: string) => {
    const limits = quotas.of(project);
    return { ...limits, volumes___DEFAULT__: -1, gigabytes___DEFAULT__: -1, snapshots___DEFAULT__: -1 };
  };
  return [
    route(`GET ${path}`, 'showVolumeQuotas', ({ caller, params: { of = '' }, query }) => {
      if (!caller.isAdmin && of !== caller.projectId)
        throw new Refusal(403, "Policy doesn't allow volume_extension:quotas:show to be performed.");
      const isDetailed = /^true$/i.test(query.get('usage') ?? '');
      const usage: Record<string, number> = usageOf(cloud, of);
      const limits = Object.entries(shown(of)).map(([name, limit]) => [
        name,
        isDetailed ? { limit, in_use: usage[name] ?? 0, reserved: 0 } : limit,
      ]);
      return ok({ quota_set: { id: of, ...Object.fromEntries(limits) } });
    }),
    route(`PUT ${path}`, 'updateVolumeQuotas', (asked) => {
      mayWrite(asked);
      const { tenant_id: _, ...limits } = bodyAs(Limits, asked.body).quota_set;
      const { of = '' } = asked.params;
      quotas.set(of, Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, Number(limit)])));
      return ok({ quota_set: shown(of) });
    }),
  ];
}
