import { createHash } from 'node:crypto';
import type { Cloud } from '../cloud.ts';

/** Where each service is, for each interface: Neutron's address lacks the version, Cinder's ends in the project. */
export function catalogOf({ url, region }: Cloud, project: string) {
  const services = [
    { type: 'identity', name: 'keystone', at: '/identity/v3' },
    { type: 'compute', name: 'nova', at: '/compute/v2.1' },
    { type: 'network', name: 'neutron', at: '/network' },
    { type: 'volumev3', name: 'cinder', at: `/volume/v3/${project}` },
    { type: 'image', name: 'glance', at: '/image' },
  ];
  return services.map(({ type, name, at }) => ({
    endpoints: ['public', 'internal', 'admin'].map((each) => ({
      id: idOf(name, each),
      interface: each,
      region_id: region,
      url: `${url}${at}`,
      region,
    })),
    id: idOf(name),
    type,
    name,
  }));
}

const idOf = (...names: string[]) => createHash('sha256').update(names.join()).digest('hex').slice(0, 32);
