import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { defineConfig } from 'rolldown';
import type { Plugin } from 'rolldown';

/**
 * The command line in a few files, a chunk for what a verb loads: loading hundreds of small modules is most of the
 * time from the start of the process to its first line. The library stays as the compiler wrote it.
 */
export default defineConfig({
  input: { main: 'dist/cli/main.js' },
  platform: 'node',
  // `undici` and the libraries of the login gates read files beside them, or are loaded by few.
  external: ['undici', '@node-saml/node-saml', 'openid-client', 'ws', 'selfsigned'],
  plugins: [licenses()],
  output: { dir: 'dist/bin', format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
});

/** Whose code is in the bundle, with the licences under which it is. */
function licenses(): Plugin {
  return {
    name: 'licenses',
    async generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((part) => ('moduleIds' in part ? part.moduleIds : []));
      const folders = new Set(
        modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []),
      );
      const texts = await Promise.all([...folders].toSorted().map(licenseOf));
      this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: texts.join('\n\n') });
    },
  };
}

async function licenseOf(folder: string): Promise<string> {
  const { name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} is bundled and has no licence file`);
  return `${name} ${version}\n\n${await readFile(join(folder, file), 'utf8')}`;
}
