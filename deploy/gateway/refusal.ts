/** Why of a request no image is made, as its sender may hear it: an answer, and what was expected. */
export class Refusal extends Error {
  readonly status: 400 | 401 | 403 | 404 | 413 | 422 | 429 | 503;
  /** More about it, for the gateway's log only. */
  readonly detail: string | undefined;

  constructor(status: Refusal['status'], sentence: string, detail?: string) {
    super(sentence);
    this.name = 'Refusal';
    this.status = status;
    this.detail = detail;
  }
}
