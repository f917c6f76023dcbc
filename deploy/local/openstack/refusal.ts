/** An answer other than success: its HTTP status, what the service says of it, and Neutron's word for it. */
export class Refusal extends Error {
  readonly status: number;
  /** Neutron's `type`; the other services have a word for each status only. */
  readonly kind: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, kind = '', headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.kind = kind;
    this.headers = headers;
  }
}

/** The kind of a refusal because there is no such path, and because the body is no JSON. */
export const noRoute = 'NoRoute';
export const malformed = 'Malformed';

/** What HTTP calls a status, as the bodies of Keystone and Glance repeat it. */
export const titleOf = (status: number) => titles[status] ?? (status < 500 ? 'Bad Request' : 'Internal Server Error');

const titles: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  413: 'Request Entity Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
};

/** The body of a refusal as webob makes it: all of Glance's, and Nova's where there is no such path. */
export const webobBody = ({ status, message }: Refusal) => ({
  message: `${message}<br /><br />\n\n\n`,
  code: `${status} ${titleOf(status)}`,
  title: titleOf(status),
});
