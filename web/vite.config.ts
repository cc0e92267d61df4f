import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  build: {
    // dist/.gitignore is checked in and must outlive a build; scripts/clean-dist.mjs removes the rest.
    emptyOutDir: false,
    // The server's content policy allows files of its own origin only, so nothing becomes a data: address.
    assetsInlineLimit: 0,
    // Monaco, the playground's editor, is one large part that is loaded on demand.
    chunkSizeWarningLimit: 4000,
    // GraphiQL is compiled by React's compiler and tells it so in directives that mean nothing in a bundle.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
    license: { fileName: 'licenses.md' },
  },
  server: {
    // `npm run dev` shows the page from source against a running server.
    proxy: { '/graphql': { target: 'http://127.0.0.1:4000', ws: true } },
  },
});
