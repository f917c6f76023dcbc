/** The attributes of an event, by name, even where its data cannot be read. */
export type Attributes = Readonly<Record<string, string | undefined>>;

/** Whether the whole event is in the body, by the content type of a request. */
export const isStructured = (contentType: string | null | undefined) =>
  contentType?.startsWith('application/cloudevents') ?? false;

/** The attributes of a request, whatever else it is; `body` is read only in structured mode. */
export const attributesOf = (headers: Headers, body: string): Attributes =>
  isStructured(headers.get('content-type')) ? attributesIn(body) : attributesAmong(headers);

/** Which event it is, to be shown to people; undefined what it does not say. */
export const identityOf = ({ id, type, source }: Attributes) => ({
  id: id ? printable(id) : undefined,
  type: type ? printable(type) : undefined,
  source: source ? printable(withoutSecrets(source)) : undefined,
});

const attributesAmong = (headers: Headers): Attributes =>
  Object.fromEntries(
    [...headers].filter(([name]) => name.startsWith('ce-')).map(([name, value]) => [name.slice('ce-'.length), value]),
  );

function attributesIn(text: string): Attributes {
  try {
    const fields = Object.entries(JSON.parse(text) as object).filter(([name]) => !name.startsWith('data'));
    return Object.fromEntries(fields.map(([name, value]) => [name, typeof value === 'object' ? '' : String(value)]));
  } catch {
    return {};
  }
}

/** A source is a URI: a password, a token in its query and a fragment are not shown. */
export const withoutSecrets = (source: string) => source.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');

const longest = 253;

/** Text of a stranger: it breaks no line and steers no terminal. */
export const printable = (text: string, most = longest) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?').slice(0, most);
