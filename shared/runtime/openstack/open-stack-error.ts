import type { Reason } from '../../reasons/reason.ts';
import { oneLine } from '../../sentence.ts';

/**
 * An error answer of OpenStack. `message` is the message of the service, shortened; by `requestId` its operators find the request in
 * their logs.
 */
export class OpenStackError extends Error {
  readonly service: string;
  readonly operation: string;
  readonly status: number;
  readonly requestId: string;
  /** Milliseconds after which the service accepts a retry; absent if it names none. */
  readonly retryAfterMs: number | undefined;
  readonly #type: string;

  constructor(
    request: { service: string; operation: string },
    answer: { status: number; text: string; requestId: string; retryAfter: string | null },
  ) {
    const { type, message } = read(answer.text);
    super((message || `HTTP ${answer.status}`).slice(0, 500));
    this.name = 'OpenStackError';
    this.service = request.service;
    this.operation = request.operation;
    this.status = answer.status;
    this.requestId = answer.requestId;
    this.retryAfterMs = /^\d{1,5}$/.test(answer.retryAfter ?? '') ? Number(answer.retryAfter) * 1000 : undefined;
    this.#type = type;
  }

  /** Undefined if the request is correct and only needs a retry. */
  get refusal(): Reason | undefined {
    if (this.#isOverQuota) return 'QuotaExceeded';
    return reasons[this.status];
  }

  /** Nova answers 403, Cinder 413, Neutron 409. Only the text of Nova's 403 distinguishes an exceeded quota from a missing right. */
  get #isOverQuota() {
    if (this.status === 403) return /^Quota exceeded/i.test(this.message);
    return this.status === 413 || (this.status === 409 && this.#type === 'OverQuota');
  }
}

const reasons: Readonly<Record<number, Reason>> = {
  400: 'Refused',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  422: 'Refused',
};

/**
 * Each service has its own envelope: Nova and Cinder {"badRequest": {message}}, Neutron {"NeutronError": {type, message}},
 * Keystone {"error": {message}}, Glance {message}, and some proxies HTML.
 */
function read(text: string): { type: string; message: string } {
  const body = parsed(text);
  const [name = '', inner] = Object.entries(body).find(([, value]) => isObject(value)) ?? ['', body];
  const { message, type } = (isObject(inner) ? inner : body) as { message?: unknown; type?: unknown };
  return { type: typeof type === 'string' ? type : name, message: typeof message === 'string' ? oneLine(message) : '' };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
