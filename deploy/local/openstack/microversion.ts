import { Refusal } from './refusal.ts';
import type { Service } from './service.ts';

type Headers = Readonly<Record<string, string>>;

/** The minor number that a request asks for: the lowest by default. Refuses with 406 a version that the service does not support. */
export function minorOf({ versions }: Service, headers: Headers): number {
  if (!versions) return 0;
  const { major, minMinor, maxMinor, type } = versions;
  const asked = askedFor(type, headers);
  if (asked === undefined) return minMinor;
  if (asked === 'latest') return maxMinor;
  const [, first, second] = /^(\d+)\.(\d+)$/.exec(asked) ?? [];
  if (first === undefined)
    throw new Refusal(400, `API Version String ${asked} is of invalid format. Must be of format MajorNum.MinorNum.`);
  const minor = Number(second);
  if (Number(first) !== major || minor < minMinor || minor > maxMinor)
    throw new Refusal(
      406,
      `Version ${asked} is not supported by the API. Minimum is ${major}.${minMinor} and maximum is ${major}.${maxMinor}.`,
    );
  return minor;
}

/** What a service with microversions says of the one it answered in. */
export function versionHeaders(service: Service, headers: Headers, requestId: string): Record<string, string> {
  if (!service.versions) return {};
  const { major, minMinor, maxMinor, type } = service.versions;
  const asked = askedFor(type, headers);
  const said = asked === undefined ? `${major}.${minMinor}` : asked === 'latest' ? `${major}.${maxMinor}` : asked;
  if (!/^\d+\.\d+$/.test(said)) return {};
  if (type === 'volume')
    return {
      'openstack-api-version': `volume ${said}`,
      vary: 'OpenStack-API-Version',
      'x-compute-request-id': requestId,
    };
  return {
    'openstack-api-version': `compute ${said}`,
    'x-openstack-nova-api-version': said,
    vary: 'OpenStack-API-Version, X-OpenStack-Nova-API-Version',
    'x-compute-request-id': requestId,
  };
}

/** `OpenStack-API-Version: compute 2.79, …`, or the header that Nova had before. */
function askedFor(type: string, headers: Headers): string | undefined {
  const entries = (headers['openstack-api-version'] ?? '').split(',').map((entry) => entry.trim().split(/\s+/));
  const found = entries.find(([service]) => service === type)?.[1];
  return found ?? (type === 'compute' ? headers['x-openstack-nova-api-version'] : undefined);
}
