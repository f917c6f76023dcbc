/**
 * An answer of the API server other than success. `status` is HTTP's; `reason` Kubernetes' word for it. `message` may be
 * logged; `serverMessage` is the API server's own text, which may quote what was written.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  /** The name of the object that the answer is about, if it says one. */
  readonly about: string | undefined;
  // Private, so that no log of the whole error has them.
  readonly #serverMessage: string;
  constructor(status: number, reason: string, message: string, serverMessage = message, about?: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
    this.about = about;
    this.#serverMessage = serverMessage;
  }
  get serverMessage(): string {
    return this.#serverMessage;
  }
}

/** The API server cannot be reached, or did not answer in time. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

/** Another writer was first: observe and decide again. */
export class Conflict extends Error {
  override name = 'Conflict';
}

export const hasStatus = (error: unknown, status: number): error is ApiError =>
  error instanceof ApiError && error.status === status;

/** The API server refuses the object itself, so that sending it again changes nothing. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 403, 422].includes(error.status);

/** Something must end first that sends no event of its own: the Broker is to deliver the same event again. */
export class Again extends Error {
  override name = 'Again';
}
