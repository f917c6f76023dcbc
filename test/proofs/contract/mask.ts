/** Replaces what differs from run to run by its name: uids (numbered as they appear), times, resourceVersions, ages. */
export class Mask {
  readonly #namespace: string;
  readonly #uids = new Map<string, string>();
  readonly #now: number;

  constructor(namespace: string, now = Date.now()) {
    this.#namespace = namespace;
    this.#now = now;
  }

  /** The value with everything in it masked. */
  of(value: unknown, key = ''): unknown {
    if (typeof value === 'string') return masked[key] && value !== '' ? masked[key] : this.text(value);
    if (Array.isArray(value)) return this.#list(value, key);
    if (typeof value !== 'object' || value === null) return value;
    // In order of name, so that uids are met in the same order whatever order a server writes fields in.
    const fields = Object.entries(withoutGeneratedName(value as Fields))
      .filter(([name]) => !omitted.has(name))
      .sort(byName);
    return Object.fromEntries(fields.map(([name, field]) => [name, this.of(field, name)]));
  }

  /** A text with the uids, times and versions in it masked. */
  text(text: string): string {
    return text
      .replaceAll(this.#namespace, '{ns}')
      .replaceAll(uid, (found) => this.#uid(found))
      .replaceAll(time, (found) => (Math.abs(Date.parse(found) - this.#now) < aDayMs ? '<time>' : found))
      .replaceAll(version, (_, before: string) => `${before}<version>`);
  }

  #list(list: unknown[], key: string): unknown {
    if (key === 'managedFields') return list.map((entry) => this.#manager(entry as Fields)).sort();
    if (key === 'cells') return list.map((cell) => (age.test(String(cell)) ? '<age>' : this.of(cell)));
    const elements = list.map((element) => this.of(element));
    return unordered.has(key) ? elements.sort(byText) : elements;
  }

  /** An entry of managedFields in one line, so that recordings stay readable. */
  #manager({ manager, operation, apiVersion, subresource, fieldsV1 }: Fields): string {
    const where = subresource ? `${apiVersion}/${subresource}` : apiVersion;
    const owned: unknown = JSON.parse(this.text(JSON.stringify(fieldsV1 ?? {})));
    return `${this.text(`${manager} ${operation} ${where}`)} ${fieldsInShort(owned)}`;
  }

  #uid(found: string): string {
    const known = this.#uids.get(found) ?? `<uid ${this.#uids.size + 1}>`;
    this.#uids.set(found, known);
    return known;
  }
}

type Fields = Record<string, unknown>;

const aDayMs = 86_400_000;
const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const version = /((?:resource version: \d+ \(|, current: |ResourceVersion in (?:the precondition|record) \())\d+/gi;
const age = /^(?:\d+[smhdy])+$/;

/** Fields whose text is never the same twice, by name. */
const masked: Record<string, string> = { resourceVersion: '<version>', continue: '<continue>', token: '<token>' };

/** Fields that say nothing of the API. */
const omitted = new Set(['serverAddressByClientCIDRs', 'storageVersionHash', 'buildDate', 'goVersion', 'gitCommit']);

/** Lists without an order, by name. */
const unordered = new Set([
  'causes',
  'verbs',
  'resources',
  'groups',
  'resourceRules',
  'nonResourceRules',
  'parameters',
  'enum',
]);

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

const byText = (a: unknown, b: unknown) => {
  const [first, second] = [JSON.stringify(a), JSON.stringify(b)];
  return first < second ? -1 : Number(first > second);
};

/** What the server appended to a generateName. */
function withoutGeneratedName(fields: Fields): Fields {
  const { generateName, name } = fields;
  if (typeof generateName !== 'string' || typeof name !== 'string' || !generateName) return fields;
  return { ...fields, name: name.replace(/[a-z0-9]{5}$/, '<random>') };
}

/** `{spec:{size}}` for `{"f:spec":{"f:size":{}}}`. */
function fieldsInShort(fields: unknown): string {
  const entries = Object.entries((fields ?? {}) as Fields).map(([name, inner]) => {
    const short = name.replace(/^f:/, '');
    return Object.keys((inner ?? {}) as Fields).length > 0 ? `${short}${fieldsInShort(inner)}` : short;
  });
  return `{${entries.sort().join(' ')}}`;
}
