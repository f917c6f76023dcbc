/** What a project may have at most; -1 is no limit. */
export interface Quotas {
  compute: Record<string, number>;
  volume: Record<string, number>;
  network: Record<string, number>;
}

/** As the services ship (nova 26, cinder 21, neutron 21). */
export const defaultQuotas: Quotas = {
  compute: {
    instances: 10,
    cores: 20,
    ram: 51200,
    metadata_items: 128,
    key_pairs: 100,
    server_groups: 10,
    server_group_members: 10,
  },
  volume: {
    volumes: 10,
    gigabytes: 1000,
    snapshots: 10,
    backups: 10,
    backup_gigabytes: 1000,
    groups: 10,
    per_volume_gigabytes: -1,
  },
  network: { network: 100, subnet: 100, port: 500, security_group: 10, security_group_rule: 100 },
};

/** The limits of one kind, by project, over their defaults. */
export interface QuotaBook {
  of(project: string): Record<string, number>;
  set(project: string, limits: Record<string, number>): void;
  reset(project: string): void;
  /** Whether this many more would exceed the quota. */
  isOver(project: string, resource: string, used: number, more: number): boolean;
}

/** The defaults, for every project. */
export function quotaBook(defaults: Readonly<Record<string, number>>): QuotaBook {
  const own = new Map<string, Record<string, number>>();
  const of = (project: string) => ({ ...defaults, ...own.get(project) });
  return {
    of,
    set: (project, limits) => own.set(project, { ...own.get(project), ...limits }),
    reset: (project) => own.delete(project),
    isOver: (project, resource, used, more) => {
      const limit = of(project)[resource] ?? -1;
      return limit >= 0 && used + more > limit;
    },
  };
}
