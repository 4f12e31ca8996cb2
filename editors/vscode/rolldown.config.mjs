import { defineConfig } from 'rolldown';

/** One file: the package has no node_modules. */
export default defineConfig({
  input: 'src/extension.ts',
  platform: 'node',
  external: ['vscode'],
  output: { file: 'dist/extension.cjs', format: 'cjs', minify: true },
});
