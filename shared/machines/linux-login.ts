const longest = 32;

/** True for what `useradd` takes for a login (shadow, lib/chkname.c). */
export const isLinuxLogin = (name: string) => /^[a-z_][a-z0-9_-]{0,31}$/.test(name);

/** The login for a name: itself where Linux takes it, else the nearest that Linux does ("demo user" → demo-user). */
export function linuxLoginOf(name: string): string {
  if (isLinuxLogin(name)) return name;
  const legal = name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-0-9]+/, '')
    .slice(0, longest)
    .replace(/-+$/, '');
  return legal || 'user';
}
