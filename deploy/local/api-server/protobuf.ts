import type { JsonObject } from './objects.ts';

/** One field of a protobuf message: its name in JSON and what it holds. */
export interface Field {
  name: string;
  type: 'string' | 'bytes' | 'boolean' | 'integer' | 'map of strings' | 'map of bytes' | Message;
  repeated?: boolean;
}

/** A message by the numbers of its fields; other fields are skipped. */
export type Message = Record<number, Field>;

/** Reads a protobuf message as the JSON it stands for; empty text is as good as absent. Throws a RangeError on cut-off bytes. */
export function decodeMessage(bytes: Buffer, message: Message): JsonObject {
  const object: JsonObject = {};
  for (const { number, value } of fieldsOf(bytes)) {
    const field = message[number];
    if (field) add(object, field, value);
  }
  return object;
}

function add(object: JsonObject, { name, type, repeated }: Field, value: Buffer | bigint) {
  if (repeated) object[name] = [...((object[name] as unknown[] | undefined) ?? []), decoded(type, value)];
  else if (type === 'map of strings' || type === 'map of bytes') {
    const entry = mapEntry(value, type === 'map of strings' ? 'string' : 'bytes');
    object[name] = { ...((object[name] as JsonObject | undefined) ?? {}), ...entry };
  } else {
    const read = decoded(type, value);
    if (read !== '') object[name] = read;
  }
}

function decoded(type: Field['type'], value: Buffer | bigint): unknown {
  if (typeof value === 'bigint') return type === 'boolean' ? value === 1n : Number(value);
  if (type === 'string') return value.toString('utf8');
  if (type === 'bytes') return value.toString('base64');
  return typeof type === 'object' ? decodeMessage(value, type) : undefined;
}

function mapEntry(value: Buffer | bigint, type: 'string' | 'bytes'): JsonObject {
  const [key, content] = typeof value === 'bigint' ? [] : [...fieldsOf(value)];
  return {
    [String(decoded('string', key?.value ?? Buffer.alloc(0)))]: decoded(type, content?.value ?? Buffer.alloc(0)),
  };
}

function* fieldsOf(bytes: Buffer): Generator<{ number: number; value: Buffer | bigint }> {
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
