import { createHash } from 'node:crypto';

/** Where ids, addresses of network cards and secrets come from: the same ones for the same seed, so that a run can be repeated. */
export interface Ids {
  /** `8f0e…-…`. */
  uuid(): string;
  /** 32 hexadecimal digits, as Keystone's ids are. */
  hex(): string;
  /** `fa:16:3e:…`, as Neutron's. */
  mac(): string;
}

/** Ids that follow from a text. */
export function seededIds(seed: string): Ids {
  let count = 0;
  const digits = () => createHash('sha256').update(`${seed} ${count++}`).digest('hex').slice(0, 32);
  return {
    hex: digits,
    uuid: () => {
      const text = digits();
      return [
        text.slice(0, 8),
        text.slice(8, 12),
        `4${text.slice(13, 16)}`,
        `a${text.slice(17, 20)}`,
        text.slice(20),
      ].join('-');
    },
    mac: () =>
      `fa:16:3e:${digits()
        .slice(0, 6)
        .replace(/(..)(..)(..)/, '$1:$2:$3')}`,
  };
}
