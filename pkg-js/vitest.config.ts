import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'scripts/*.test.mjs'],
    environment: 'node',
    // Two cores are common on the machines that run this.
    maxWorkers: 2,
  },
});
