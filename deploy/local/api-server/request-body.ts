import type { IncomingMessage } from 'node:http';
import { parse } from 'yaml';
import { protobufObject } from './protobuf.ts';
import { badRequest, StatusError } from './status-error.ts';

// What the real server takes, from its --max-request-bytes.
const mostBytes = 3 * 1024 * 1024;

/** Reads a request's body as JSON, YAML or protobuf; undefined when it has none. Throws 400, 413 and 415. */
export async function requestBody(request: IncomingMessage, mediaType: string): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) {
      throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${mostBytes}`);
    }
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (mediaType === 'application/vnd.kubernetes.protobuf') return understood(() => protobufObject(body), 'protobuf');
  const text = body.toString('utf8');
  if (text === '') return undefined;
  return mediaType.endsWith('yaml') ? parsed(text, parse, 'yaml') : parsed(text, readJson, 'json');
}

/** An apply's media type says YAML, but clients send JSON, which is quicker to read as what it is. */
const parsed = (text: string, parse: (text: string) => unknown, language: string) =>
  understood(() => (text.startsWith('{') ? readJson(text) : parse(text)), language);

function understood(read: () => unknown, language: string): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof StatusError) throw error;
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw badRequest(`the body of the request is no ${language}: ${why}`);
  }
}

/** Go reads half of a surrogate pair as U+FFFD. */
const readJson = (text: string): unknown =>
  /\\ud[89a-f]/i.test(text)
    ? JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value))
    : JSON.parse(text);
