import type { JsonObject } from './objects.ts';
import messages from './protobuf-fields.json' with { type: 'json' };
import { StatusError } from './status-error.ts';

/** Reads a Kubernetes protobuf body as the JSON it stands for; throws 415 for a kind that is taken as JSON only. */
export function protobufObject(bytes: Buffer): JsonObject {
  const isKubernetes = bytes.subarray(0, magic.length).toString() === magic;
  const { typeMeta, raw } = isKubernetes ? envelopeOf(bytes.subarray(magic.length)) : {};
  const { apiVersion = '', kind = '' } = typeMeta ?? {};
  const message = messageOf(apiVersion, kind);
  if (!raw || !fieldsOf.has(message)) {
    const why = `a ${kind || 'body'} in protobuf is not understood here: send it as JSON (kubectl apply -f does; client-go does with ContentType application/json)`;
    throw new StatusError(415, 'UnsupportedMediaType', why);
  }
  return { apiVersion, kind, ...decodeMessage(raw, message) };
}

const magic = 'k8s\0';

function envelopeOf(bytes: Buffer) {
  const [typeMeta, raw] = [1, 2].map((wanted) => {
    const found = [...partsOf(bytes)].find(({ number }) => number === wanted);
    return found && typeof found.value !== 'bigint' ? found.value : Buffer.alloc(0);
  });
  const [apiVersion, kind] = [...partsOf(typeMeta ?? Buffer.alloc(0))].map(({ value }) => String(value));
  return { typeMeta: { apiVersion, kind }, raw };
}

/** How a message is called: by the first word of its group, and its kind. */
const messageOf = (apiVersion: string, kind: string) =>
  kind === 'DeleteOptions'
    ? 'meta.DeleteOptions'
    : `${apiVersion.includes('/') ? apiVersion.split(/[./]/)[0] : 'core'}.${kind}`;

interface Field {
  /** In JSON; empty for a struct whose fields are those of its owner. */
  name: string;
  /** Whether Go leaves its zero out. */
  optional: boolean;
  type: string;
}

const fieldsOf = new Map(
  Object.entries(messages).map(([message, fields]) => [
    message,
    new Map(
      fields.split(' ').map((text): [number, Field] => {
        const [number, name = '', type = ''] = text.split(':');
        return [Number(number), { name: name.replace('?', ''), optional: name.endsWith('?'), type }];
      }),
    ),
  ]),
);

/** Reads a message as the JSON it stands for; throws a RangeError on cut-off bytes. */
function decodeMessage(bytes: Buffer, message: string): JsonObject {
  const object: JsonObject = {};
  for (const { number, value } of partsOf(bytes)) {
    const field = fieldsOf.get(message)?.get(number);
    if (field) add(object, field, value);
  }
  return object;
}

function add(object: JsonObject, { name, optional, type }: Field, value: Buffer | bigint) {
  const kind = type.slice(0, 2);
  const read = decoded(type.replace(/^(\*|\[\]|{})/, ''), value);
  if (kind === '[]') object[name] = [...((object[name] as unknown[] | undefined) ?? []), read];
  else if (kind === '{}') object[name] = { ...(object[name] as JsonObject), ...mapEntry(type.slice(2), value) };
  else if (name === '') Object.assign(object, read);
  else if (!optional || (read !== '' && read !== 0 && read !== false && read !== null)) object[name] = read;
}

function decoded(type: string, value: Buffer | bigint): unknown {
  if (typeof value === 'bigint') return type === 'bool' ? value === 1n : Number(BigInt.asIntN(64, value));
  switch (type) {
    case 'text':
      return value.toString('utf8');
    case 'bytes':
      return value.toString('base64');
    case 'time':
      return value.length === 0 ? null : `${secondsIn(value)}Z`;
    case 'microtime':
      return value.length === 0 ? null : `${secondsIn(value)}.${String(intOf(value, 2) / 1000n).padStart(6, '0')}Z`;
    case 'quantity':
      return String(partOf(value, 1) ?? '0');
    case 'int-or-string':
      return partOf(value, 1) === 1n ? String(partOf(value, 3) ?? '') : Number(BigInt.asIntN(32, intOf(value, 2)));
    case 'raw':
      return JSON.parse(String(partOf(value, 1) ?? 'null'));
    default:
      return type.startsWith('<>')
        ? [...partsOf(value)].map((item) => decoded(type.slice(4), item.value))
        : decodeMessage(value, type);
  }
}

const partOf = (bytes: Buffer, wanted: number) => [...partsOf(bytes)].find(({ number }) => number === wanted)?.value;

function intOf(bytes: Buffer, number: number): bigint {
  const found = partOf(bytes, number);
  return typeof found === 'bigint' ? found : 0n;
}

const secondsIn = (time: Buffer) =>
  new Date(Number(BigInt.asIntN(64, intOf(time, 1))) * 1000).toISOString().slice(0, 19);

function mapEntry(type: string, value: Buffer | bigint): JsonObject {
  if (typeof value === 'bigint') return {};
  const [key, content = Buffer.alloc(0)] = [partOf(value, 1), partOf(value, 2)];
  return { [String(key ?? '')]: decoded(type, content) };
}

function* partsOf(bytes: Buffer): Generator<{ number: number; value: Buffer | bigint }> {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    if (wire === 0) yield { number: tag >> 3, value: varint() };
    else {
      const length = wire === 2 ? Number(varint()) : wire === 1 ? 8 : 4;
      if (at + length > bytes.length) throw new RangeError('the protobuf message ends too early');
      at += length;
      yield { number: tag >> 3, value: bytes.subarray(at - length, at) };
    }
  }
}
