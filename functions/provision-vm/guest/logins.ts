import type { User, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { linuxLoginOf } from '../../../shared/machines/linux-login.ts';
import { final, type Obstacle } from '../observed.ts';

/** A user with the login that Linux takes for it. */
interface Login {
  login: string;
  user: User;
}

export const loginsOf = ({ spec }: VirtualMachine): Login[] =>
  (spec.users ?? []).map((user) => ({ login: linuxLoginOf(user.name), user }));

/** "demo user" → demo-user, for each login that had to be made legal; undefined where none had. */
export function describeRenamed(machine: VirtualMachine): string | undefined {
  const renamed = loginsOf(machine).filter(({ login, user }) => login !== user.name);
  if (renamed.length === 0) return undefined;
  const list = renamed.map(({ login, user }) => `${JSON.stringify(user.name)} → ${login}`).join(', ');
  return `Expected logins that Linux takes (a-z, 0-9, "-" and "_", at most 32), found others; made legal: ${list}.`;
}

/** Two users that would share a login. */
export function collision(machine: VirtualMachine): Obstacle | undefined {
  for (const [login, sharing] of Map.groupBy(loginsOf(machine), (one) => one.login)) {
    if (sharing.length < 2) continue;
    const names = sharing.map(({ user }) => JSON.stringify(user.name)).join(' and ');
    return final(
      'UserNamesCollide',
      `Expected each user to have a login of its own, found ${names}, which both become ${login}; rename one of them.`,
    );
  }
  return undefined;
}
