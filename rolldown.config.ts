import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';
import type { Plugin, RolldownOptions } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { licenses } from './rolldown.licenses.ts';
import { chunkOfStarts } from './rolldown.starts.ts';
import { inspector, playground, report } from './rolldown.pages.ts';

/** What users run and import. */
// table: entries
const ENTRIES = {
  main: 'cli/main',
  index: 'index',
  cel: 'cel/index',
  node_test: 'integrations/testing/node_test',
  vitest: 'integrations/testing/vitest',
};
/** Packages that users install: they speak to other hosts or read signed XML, so their fixes must not wait for ours. */
const external = [
  /^(undici|@node-saml\/node-saml|@xmldom\/xmldom|xml-crypto|openid-client|zod|vitest)(\/|$)/,
];
const TYPES = 'node_modules/.cache/edgeproof/types';

/** The command and the library share their files. CommonJS starts faster than modules: docs/decisions/0015. */
const code: RolldownOptions = {
  input: entries('src', 'ts'),
  platform: 'node',
  external,
  plugins: [licenses(), runLater()],
  output: {
    dir: 'dist/lib',
    format: 'cjs',
    // Merged chunks may import each other: without it a file could run before what it imports.
    strictExecutionOrder: true,
    entryFileNames: '[name].cjs',
    // The names of merged chunks list who shares them, which is long in each file that loads them.
    chunkFileNames: ({ name }) => `${name.split('~', 1)[0]}-[hash].cjs`,
    // Names stay, for stack traces.
    minify: {
      compress: true,
      mangle: { keepNames: true },
      codegen: { removeWhitespace: true, asciiOnly: true },
    },
    comments: false,
    codeSplitting: {
      groups: [
        // Otherwise these files are merged with unrelated ones, which every verb would then load.
        {
          name: 'run',
          test: /src\/cli\/(?:run|verbs|instance_verbs|shutdown|terminal)\.ts$/,
          priority: 1,
        },
        {
          name: 'version',
          test: /src\/(?:cli\/(?:version|v8_flags|output|exit_codes)|diagnostics\/system_failure|loading\/single_executable)\.ts$/,
          priority: 2,
        },
        {
          name: 'options',
          test: /node_modules\/commander\/|src\/cli\/(?:option_values|service_name)\.ts$/,
          priority: 1,
          includeDependenciesRecursively: false,
        },
        { name: 'heap_limit', test: /src\/cli\/heap_limit\.ts$/, priority: 1 },
        { name: chunkOfStarts, debugName: 'starts', priority: 0.5, includeDependenciesRecursively: false },
        // With 80 kB, merged files made nearly every verb load undici and zod.
        { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 4_000 },
      ],
    },
  },
};

/**
 * Runs at their first use what most starts do without. Commander imports `node:child_process` (6 ms) for verbs that are
 * programs of their own, which ours are not; the tables of re2js are a fifth of what `check` would run while it loads.
 */
function runLater(): Plugin {
  const processes = '\0processes';
  const texts: Readonly<Record<string, string>> = {
    [processes]:
      "export default { get spawn() { return process.getBuiltinModule('node:child_process').spawn; } };",
    [fileURLToPath(new URL('src/regex/re2.ts', import.meta.url))]:
      "let library; export const re2 = () => (library ??= require('re2js'));",
  };
  return {
    name: 'run later',
    resolveId: (id, importer) =>
      id === 'node:child_process' && importer?.includes('/commander/') ? processes : null,
    load: (id) => texts[id] ?? null,
  };
}

/** Declarations by `tsc`, reduced to what the entries export. */
const { main: _command, ...library } = entries(TYPES, 'd.ts');
const types: RolldownOptions = {
  input: library,
  external: [/^[^./]/],
  plugins: [dts({ dtsInput: true })],
  output: { dir: 'dist/lib', entryFileNames: declarations, chunkFileNames: '[name]-[hash].d.cts' },
};

export default defineConfig([
  code,
  types,
  ...playground('dist/playground'),
  inspector('dist/inspector'),
  report('dist/report'),
]);

/** Of CommonJS, as the code is; only those of Vitest's matchers extend types of a module. */
function declarations({ name }: { readonly name: string }): string {
  return name === 'vitest' ? '[name].d.ts' : '[name].d.cts';
}

function entries(folder: string, extension: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(ENTRIES).map(([name, path]) => [name, `${folder}/${path}.${extension}`]),
  );
}
