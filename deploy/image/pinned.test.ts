import { expect, test } from 'vitest';
import { assertPinned } from './pinned.ts';

const tag = 'gcr.io/distroless/nodejs24-debian13:nonroot';
const digest = `@sha256:${'0a'.repeat(32)}`;

test.each([{ BASE: tag }, { BASE: tag, RELEASE: '' }, { BASE: `${tag}${digest}`, RELEASE: '1.0.0' }])(
  '%j is built',
  (args) => {
    expect(() => assertPinned(args)).not.toThrow();
  },
);

test.each([{ RELEASE: '1.0.0' }, { BASE: tag, RELEASE: '1.0.0' }, { BASE: `${tag}@sha256:0a`, RELEASE: '1.0.0' }])(
  '%j is refused: a release has its base by digest',
  (args) => {
    expect(() => assertPinned(args)).toThrow('by its digest');
  },
);
