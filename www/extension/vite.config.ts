import { defineConfig } from 'vite';

export default defineConfig({
  // Of the folder in which npm runs it, www.
  root: 'extension',
  base: './',
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // Its helper writes into a document, which a service worker has not.
    modulePreload: false,
    rolldownOptions: {
      input: { panel: 'extension/panel.html', host: 'extension/host.html', background: 'extension/src/background.ts' },
      // The manifest names it.
      output: { entryFileNames: ({ name }) => (name === 'background' ? 'background.js' : 'assets/[name]-[hash].js') },
    },
  },
});
