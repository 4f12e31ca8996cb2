import { readFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { defineConfig } from 'rolldown';
import type { CodeSplittingNameFunction, Plugin } from 'rolldown';

type ChunkingContext = Parameters<CodeSplittingNameFunction>[1];

/** The verb, what it loads when it begins, and the reports that people read. */
const TEST_ROOTS = ['cli/run.js', 'cli/test.js', 'simulator/report/pretty.js', 'edge/further_checks.js'];

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
  output: {
    dir: 'dist/bin',
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true, asciiOnly: true } },
    comments: false,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: [{ debugName: 'test', name: (id, context) => (testParts(context).has(id) ? 'test' : null) }],
    },
  },
});

let parts: ReadonlySet<string> | null = null;

/**
 * What `edgeproof test` needs to run cases that pass: all of it in one file, since each file costs about a
 * millisecond. It holds whatever its modules import, so no other chunk is between them.
 */
function testParts(context: ChunkingContext): ReadonlySet<string> {
  if (parts !== null) return parts;
  const found = new Set(TEST_ROOTS.map((path) => resolve('dist', path)));
  // A set that grows while it is walked is walked to its end.
  for (const id of found)
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  return (parts = found);
}

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
