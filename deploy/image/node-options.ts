/** How Node is started for a function (the entry point of deploy/image/Dockerfile has the same): small rather than fast heaps. */
export const nodeOptions = ['--max-semi-space-size=1'] as const;
