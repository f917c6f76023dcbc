import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loaded } from '../cli/command.ts';
import { readCommandLine } from '../cli/command-line.ts';
import { commands } from '../cli/commands.ts';
import { readManifests } from '../manifests.ts';

interface Definition {
  spec: {
    group: string;
    names: { plural: string; shortNames: string[] };
    versions: { name: string; additionalPrinterColumns: { name: string; jsonPath: string }[] }[];
  };
}
const definitions = (await readManifests('crds')) as unknown as Definition[];
const read = async (name: string) => parse(await readFile(new URL(name, import.meta.url), 'utf8'));

// What k9s' own schemas (internal/config/json/schemas) require.
interface Plugin {
  shortCut: string;
  description: string;
  scopes: string[];
  command: string;
  args: string[];
}
const { plugins } = (await read('plugins.yaml')) as { plugins: Record<string, Plugin> };

test.each(Object.entries(plugins))(
  '%s is a plugin that runs a command that exists, on kinds that exist',
  async (_, plugin) => {
    for (const name of ['shortCut', 'description', 'command'] as const) expect(plugin[name]).toMatch(/\S/);
    const known = definitions.flatMap(({ spec }) => spec.names.shortNames);
    for (const scope of plugin.scopes) expect(known).toContain(scope);
    const [, line = ''] = /kubectl ot (.*?) 2>&1/.exec(plugin.args[1] ?? '') ?? [];
    const [name = '', ...args] = line.replaceAll(/\$[A-Z]+/g, 'x').split(' ');
    const command = commands.find((one) => one.name === name);
    if (!command) throw new Error(`expected a command, found ${name}`);
    const { found, words } = readCommandLine(await loaded(command), args, 'kubectl ot');
    expect(found).toMatchObject({ context: 'x' });
    expect(words).toHaveLength(name === 'queue' ? 0 : 1);
  },
);

test('no two plugins of a kind have the same shortcut', () => {
  const taken = Object.values(plugins).flatMap(({ scopes, shortCut }) => scopes.map((scope) => `${scope} ${shortCut}`));
  expect(new Set(taken).size).toBe(taken.length);
});

test('each view is of a kind that exists, with its columns', async () => {
  const { views } = (await read('views.yaml')) as { views: Record<string, { columns: string[]; sortColumn?: string }> };
  for (const [resource, { columns, sortColumn }] of Object.entries(views)) {
    const [group, version, plural] = resource.split('/');
    const definition = definitions.find(({ spec }) => spec.group === group && spec.names.plural === plural);
    const served = definition?.spec.versions.find(({ name }) => name === version)?.additionalPrinterColumns ?? [];
    const names = [...served.map(({ name }) => name.toUpperCase()), 'NAME', 'NAMESPACE'];
    for (const column of columns) {
      const [name = '', path] = column.split(':');
      expect(names).toContain(name);
      if (path) expect(served.find((one) => one.name.toUpperCase() === name)?.jsonPath).toBe(path);
    }
    if (sortColumn) expect(columns).toContain(sortColumn.split(':')[0]);
  }
});
