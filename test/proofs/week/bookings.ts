import { seeded } from '../../../deploy/local/seeded.ts';

export const hourMs = 3_600_000;
const minuteMs = 60_000;

/** A lab of the week, as its users mean it; all times in milliseconds since the week began. */
export interface Booking {
  name: string;
  createdMs: number;
  /** Undefined for a lab that starts at once. */
  startsMs: number | undefined;
  /** When it is to be gone. */
  endsMs: number;
  /** The names of the contents of its machines' images. */
  images: readonly string[];
  spec: Readonly<Record<string, unknown>>;
  /** Annotations that users set later. */
  annotations: readonly { atMs: number; annotations: Readonly<Record<string, string>> }[];
  /** From when to when its machines are stopped. */
  sleeps: readonly (readonly [fromMs: number, toMs: number])[];
}

/** An image's content: how much it is, and how long it takes by itself. */
export interface Content {
  name: string;
  bytes: number;
  downloadMs: number;
}

/** What goes wrong in the week, in milliseconds since it began. */
export const troubles = {
  /** A platform admin pauses the queue before the labs of a morning, and forgets it. */
  paused: [26 * hourMs, 33.5 * hourMs],
  /** Downloads take three times as long. */
  slow: [3 * 24 * hourMs, 3 * 24 * hourMs + 12 * hourMs],
} as const;

const firstDayHours = [13, 18];
const startHours = [9, 9, 9, 13, 18];
/** Booked when it is too late. */
const lateCourses = [9, 18];
const seats = 8;

/** The week: 25 courses of eight labs, each with contents of its own. Starts are `startMs` and the times of the bookings. */
export function bookingsOf(seed: number, startMs: number): { labs: Booking[]; contents: Content[] } {
  const random = seeded(seed);
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const contents: Content[] = [];
  const labs = Array.from({ length: 25 }, (_, course) => {
    const day = Math.floor((course * 7) / 25);
    // On the first day no download tells how long one takes before noon.
    const hoursOfDay = day === 0 ? firstDayHours : startHours;
    const startsMs = day * 24 * hourMs + (hoursOfDay[between(0, hoursOfDay.length - 1)] ?? 9) * hourMs;
    const isLate = lateCourses.includes(course);
    const bookedMs = isLate ? startsMs - 4 * minuteMs : Math.max(minuteMs, startsMs - between(20, 48) * hourMs);
    const images = Array.from({ length: between(1, 2) }, (__, index) => `course-${course}-${index}`);
    for (const name of images) {
      const gibibytes = between(2, 20);
      // 20 MiB a second, give or take a quarter.
      const downloadMs = Math.round(((gibibytes * 1024) / 20) * 1000 * (0.75 + random() / 2));
      contents.push({ name, bytes: gibibytes * 2 ** 30, downloadMs });
    }
    return Array.from({ length: seats }, (__, seat) => {
      // The last one comes without a booking.
      const isBooked = seat < seats - 1 || isLate;
      const createdMs = (isBooked ? bookedMs : startsMs + 5 * minuteMs) + seat * 1000;
      const name = `lab-${course}-${seat}`;
      return aLab({ name, createdMs, images, startsMs: isBooked ? startsMs : undefined }, seat, startMs);
    });
  });
  return { labs: labs.flat(), contents };
}

/** A lab that ends in one of four ways. */
function aLab(lab: Pick<Booking, 'name' | 'createdMs' | 'images' | 'startsMs'>, way: number, weekMs: number): Booking {
  const beginMs = lab.startsMs ?? lab.createdMs;
  const time = (ms: number) => new Date(weekMs + ms).toISOString();
  const schedule = lab.startsMs === undefined ? {} : { startAt: time(lab.startsMs) };
  const of = (hours: number, spec: object, more: Partial<Booking> = {}): Booking => ({
    ...lab,
    endsMs: beginMs + hours * hourMs,
    spec: { schedule, ...spec },
    annotations: [],
    sleeps: [],
    ...more,
  });
  switch (way % 4) {
    case 0:
      return of(8, { schedule: { ...schedule, endAt: time(beginMs + 8 * hourMs) } });
    case 1:
      return of(8, { expiresAfter: '8h' });
    case 2: {
      const extended = { atMs: beginMs + 5.5 * hourMs, annotations: { 'pelotech.ot/extend': '2h' } };
      return of(8, { expiresAfter: '6h' }, { annotations: [extended] });
    }
    default: {
      const [fromMs, toMs] = [beginMs + 9 * hourMs, beginMs + 24 * hourMs];
      const awake = { 'pelotech.ot/hibernate': 'false', 'pelotech.ot/awake-since': time(toMs) };
      const annotations = [
        { atMs: fromMs, annotations: { 'pelotech.ot/hibernate': 'true' } },
        { atMs: toMs, annotations: awake },
      ];
      return of(30, { expiresAfter: '30h' }, { annotations, sleeps: [[fromMs, toMs]] });
    }
  }
}
