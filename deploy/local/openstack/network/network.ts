import * as z from 'zod';
import type { Cloud } from '../cloud.ts';
import { malformed, noRoute, type Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import type { Service } from '../service.ts';
import { networkRoutes } from './networks.ts';
import { neutronBody } from './neutron-body.ts';
import { portRoutes } from './ports.ts';
import { neutronRefusals } from './refusals.ts';
import { subnetRoutes } from './subnets.ts';

/** Neutron: networks, their addresses, and who has which. */
export const networkService = (cloud: Cloud): Service => ({
  name: 'network',
  prefix: '/network',
  routes: [...networkRoutes(cloud), ...subnetRoutes(cloud), ...portRoutes(cloud), ...quotaRoutes(cloud)],
  refusalBody,
});

function refusalBody({ kind, message }: Refusal) {
  if (kind === malformed) return neutronError('HTTPBadRequest', 'Body contains invalid data');
  return neutronError(kind === noRoute ? 'HTTPNotFound' : kind || 'HTTPBadRequest', message);
}

const neutronError = (type: string, message: string) => ({ NeutronError: { type, message, detail: '' } });

const Limits = z.object({ quota: z.record(z.string(), z.number().int().min(-1)) });

function quotaRoutes({ network: { quotas } }: Cloud): Route[] {
  const project = ({ caller, params: { project = '' } }: Asked, rule: string) => {
    if (!caller.isAdmin && (rule !== 'get_quota' || caller.projectId !== project)) throw neutronRefusals.byPolicy(rule);
    return project;
  };
  return [
    route('GET /v2.0/quotas/:project', 'showNetworkQuotas', (asked) =>
      ok({ quota: quotas.of(project(asked, 'get_quota')) }),
    ),
    route('PUT /v2.0/quotas/:project', 'updateNetworkQuotas', (asked) => {
      quotas.set(project(asked, 'update_quota'), neutronBody(Limits, asked.body).quota);
      return ok({ quota: quotas.of(asked.params.project ?? '') });
    }),
    route('DELETE /v2.0/quotas/:project', 'resetNetworkQuotas', (asked) => {
      quotas.reset(project(asked, 'delete_quota'));
      return done();
    }),
  ];
}
