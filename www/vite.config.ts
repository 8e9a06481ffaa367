import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/**
 * The development server injects styles as inline elements and talks over a web socket, which the policy of the built
 * page forbids. Only there is it loosened; what is built and shipped carries the strict one of index.html.
 */
function looserPolicyInDevelopment(): Plugin {
  return {
    name: 'looser-policy-in-development',
    apply: 'serve',
    transformIndexHtml: (html) => html.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'").replace('connect-src', 'connect-src ws:'),
  };
}

export default defineConfig({
  // Relative addresses, so that the built folder works under any path.
  base: './',
  plugins: [looserPolicyInDevelopment()],
  // The package finds its wasm, table and worker beside its own modules; bundling it in advance would move them.
  optimizeDeps: { exclude: ['memstrata'] },
  worker: { format: 'es' },
  server: { fs: { allow: ['..'] } },
  build: {
    target: 'es2022',
    // A data: address would be blocked by the policy, so every asset stays a file.
    assetsInlineLimit: 0,
  },
  test: { include: ['tests/**/*.test.ts'], environment: 'node' },
});
