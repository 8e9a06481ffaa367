import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'scripts/*.test.mjs'],
    environment: 'node',
    // Two cores are common on the machines that run this.
    maxWorkers: 2,
    // No test waits for time to pass; a busy machine may still be slow.
    testTimeout: 60_000,
  },
});
