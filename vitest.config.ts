import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{functions,shared,crds,knative,deploy,test}/**/*.test.ts'],
    exclude: ['test/cluster/**'],
    testTimeout: 20_000,
  },
});
