/** Replaces what differs from run to run by its name: ids (numbered as they appear), times, addresses of services and of machines. */
export class Mask {
  readonly #ids = new Map<string, string>();
  /** What to say instead of a text, the longest text first. */
  readonly #words: [string, string][];

  constructor(words: Readonly<Record<string, string>>) {
    this.#words = Object.entries(words)
      .filter(([text]) => text !== '')
      .sort(([a], [b]) => b.length - a.length);
  }

  /** The value with everything in it masked. */
  of(value: unknown, key = ''): unknown {
    if (key in masked && value !== null && value !== '') return masked[key];
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return this.#list(value, key);
    if (typeof value !== 'object' || value === null) return value;
    // In order of name, so that ids are met in the same order whatever order a server writes fields in.
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(fields.map(([name, field]) => [this.text(name), this.of(field, name)]));
  }

  text(text: string): string {
    return this.#words
      .reduce((so, [from, to]) => so.replaceAll(from, to), text)
      .replaceAll(time, '<time>')
      .replaceAll(id, (found) => this.#id(found));
  }

  #list(list: unknown[], key: string): unknown {
    const items = list.map((each) => this.of(each));
    return unordered.has(key) ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
  }

  #id(found: string): string {
    const known = this.#ids.get(found) ?? `<id ${this.#ids.size + 1}>`;
    this.#ids.set(found, known);
    return known;
  }
}

const id = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?/g;

/** Fields whose value is never the same twice, by name. */
const masked: Record<string, string> = {
  adminPass: '<password>',
  audit_ids: '<audit ids>',
  secret: '<secret>',
  hostId: '<host>',
  mac_address: '<mac>',
  mac_addr: '<mac>',
  'OS-EXT-IPS-MAC:mac_addr': '<mac>',
  'OS-EXT-SRV-ATTR:instance_name': '<instance>',
  'OS-EXT-SRV-ATTR:reservation_id': '<reservation>',
  'provider:segmentation_id': '<segment>',
  // Neutron takes any of the next free ones.
  ip_address: '<address>',
  addr: '<address>',
  fixed_ips_address: '<address>',
  private_key: '<key>',
};

/** Lists without an order, by name. */
const unordered = new Set(['roles', 'tags', 'security_groups', 'subnets', 'catalog']);
