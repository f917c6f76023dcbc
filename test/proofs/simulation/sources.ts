import { qcow2Buffer } from '../../../deploy/local/object-store/qcow2.ts';
import type { ReadSource, SourceAnswer } from '../../../shared/runtime/sources/read-source.ts';
import type { Sources } from '../invariants/history.ts';
import type { Faults } from './faults.ts';
import type { Plan, SourceAnswerKind } from './plan.ts';
import type { Recorder } from './recorder.ts';
import type { Scheduler } from './scheduler.ts';

/** How long a source takes that answers late: longer than the policy waits for an inspection. */
const lateMs = 15_000;

const head = qcow2Buffer({ virtualBytes: 1024 * 1024, dataBytes: 0, seed: 0 }).subarray(0, 65_536);

const given = (status: number, body: Buffer): SourceAnswer => ({
  status,
  bytes: undefined,
  etag: undefined,
  lastModified: undefined,
  body,
});

/** A raw disk with a partition table, of the same length whatever its ETag. */
const disk = Buffer.alloc(65_536);
disk.writeUInt8(0x83, 450);
disk.writeUInt16BE(0x55aa, 510);
const tagged = (etag: string): SourceAnswer => ({
  status: 206,
  bytes: 1024 * 1024,
  etag,
  lastModified: undefined,
  body: disk,
});

const answers: Readonly<Record<SourceAnswerKind, SourceAnswer>> = {
  image: given(206, head),
  golden: tagged('"golden"'),
  silver: tagged('"silver"'),
  late: given(206, head),
  missing: given(404, Buffer.alloc(0)),
  page: given(200, Buffer.from('<html>no such image</html>'.repeat(40))),
  unreachable: { unreachable: 'connect ECONNREFUSED' },
};

/** The sources of images: each request is answered as the plan says, in a step of its own. */
export class SourcesOfImages {
  readonly #plan: Plan;
  readonly #around: { scheduler: Scheduler; faults: Faults; recorder: Pick<Recorder, 'revision'> };
  /** How often the object behind a url was replaced. */
  readonly #replaced = new Map<string, number>();
  readonly #looks: { url: string; etag: string | undefined; revision: number }[] = [];

  constructor(plan: Plan, around: { scheduler: Scheduler; faults: Faults; recorder: Pick<Recorder, 'revision'> }) {
    this.#plan = plan;
    this.#around = around;
  }

  read: ReadSource = ({ url }) => {
    const { scheduler, faults, recorder } = this.#around;
    const kind = (faults.areOn && this.#plan.sources?.[faults.count('source')]) || 'image';
    const { promise, resolve } = Promise.withResolvers<SourceAnswer>();
    const answer = () => {
      const isOwn = kind === 'image' || kind === 'late';
      const given = isOwn && this.#plan.refreshes ? tagged(this.#etagOf(url)) : answers[kind];
      this.#looks.push({ url, etag: 'status' in given ? given.etag : undefined, revision: recorder.revision });
      resolve(given);
    };
    if (kind === 'late') scheduler.heldUp(lateMs, answer);
    else scheduler.add(answer);
    return promise;
  };

  replace(url: string) {
    this.#replaced.set(url, (this.#replaced.get(url) ?? 0) + 1);
  }

  known(): Sources {
    const urls = new Set(this.#looks.map(({ url }) => url));
    const atEnd = this.#plan.refreshes ? [...urls].map((url) => [url, this.#etagOf(url)]) : [];
    return { looks: this.#looks, atEnd: Object.fromEntries(atEnd) };
  }

  #etagOf = (url: string) => `"${url} ${this.#replaced.get(url) ?? 0}"`;
}
