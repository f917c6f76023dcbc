import type { ServerResponse } from 'node:http';
import type { ApiObject } from './objects.ts';
import { StatusError, statusOf } from './status-error.ts';

/** Turns objects into JSON, each only once: lists and every watch share the text of a stored object. */
export class Encoder {
  readonly #texts = new WeakMap<ApiObject, string>();
  readonly #bareTexts = new WeakMap<ApiObject, string>();

  encode(object: ApiObject): string {
    const known = this.#texts.get(object);
    if (known) return known;
    const text = JSON.stringify(object);
    if (Object.isFrozen(object)) this.#texts.set(object, text);
    return text;
  }

  /** A list; `bare` items do not say their kind, as the real server lists built-in kinds. */
  encodeList(head: { apiVersion: string; kind: string; metadata: unknown }, items: ApiObject[], bare: boolean): string {
    const open = JSON.stringify(head).slice(0, -1);
    const texts = items.map((item) => (bare ? this.#encodeBare(item) : this.encode(item)));
    return `${open},"items":[${texts.join(',')}]}`;
  }

  #encodeBare(object: ApiObject): string {
    const known = this.#bareTexts.get(object);
    if (known) return known;
    const { apiVersion: _, kind: __, ...fields } = object;
    const text = JSON.stringify(fields);
    if (Object.isFrozen(object)) this.#bareTexts.set(object, text);
    return text;
  }
}

export function answer(response: ServerResponse, status: number, text: string, contentType = 'application/json') {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-cache, private',
  });
  response.end(text);
}

/** Answers with a metav1.Status; what is no refusal of ours is a fault of the server and answered 500. */
export function answerError(response: ServerResponse, error: unknown): number {
  const refusal = error instanceof StatusError ? error : internalError(error);
  const retryAfterSeconds = refusal.details?.retryAfterSeconds;
  if (retryAfterSeconds) response.setHeader('retry-after', String(retryAfterSeconds));
  answer(response, refusal.status, JSON.stringify(statusOf(refusal)));
  return refusal.status;
}

const internalError = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
};
