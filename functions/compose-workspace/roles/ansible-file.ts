/**
 * The text of a file that Ansible reads: JSON, which is YAML, too, with a line for each entry of the outermost levels. Deeper ones
 * would grow by their indentation.
 */
export const ansibleFile = (value: unknown) => `${written(value, 3, '\n')}\n`;

function written(value: unknown, levels: number, line: string): string {
  if (levels === 0 || typeof value !== 'object' || value === null) return JSON.stringify(value);
  const within = `${line}  `;
  const [open, close, entries] = Array.isArray(value)
    ? ['[', ']', value.map((one) => written(one, levels - 1, within))]
    : [
        '{',
        '}',
        Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${written(one, levels - 1, within)}`),
      ];
  return entries.length === 0 ? open + close : `${open}${within}${entries.join(`,${within}`)}${line}${close}`;
}
