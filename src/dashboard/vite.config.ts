import { defineConfig } from "vite";

export default defineConfig({
  base: "/ui/",
  // The server reads the page from beside its own compiled files.
  build: {
    outDir: "../../dist/src/dashboard",
    emptyOutDir: true,
    target: "es2022",
    // Nothing is inlined: the server's policy allows files of its own and nothing else.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
});
