import { readFile, readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { defineConfig } from 'rolldown';
import type { Plugin } from 'rolldown';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/**
 * Modules that are loaded when one of their functions is first called: most runs need few of them, and loading all
 * took longer than running 1,000 cases. They give functions and plain constants only.
 */
// table: what is loaded by use
const LOADED_BY_USE = [
  'cli/testing/coverage_options',
  'cli/testing/event_log',
  'crypto/client_certificate',
  'crypto/digest',
  'crypto/random',
  'mechanisms/login/keys',
  'crypto/self_signed',
  'crypto/x509',
  'development_idp/simulated',
  'diagnostics/render',
  'edge/certificates',
  'document/read',
  'edge/explain',
  'edge/explain_stream',
  'edge/further_checks',
  'edge/secrets',
  'events/filter',
  'events/project',
  'expression/vocabulary/facts_table',
  'mechanisms/login/oauth/provider',
  'mechanisms/login/oidc/provider',
  'mechanisms/user_agents',
  'mechanisms/webhook/secret',
  'mechanisms/websocket',
  'modules/login_gate',
  'modules/saml/compile',
  'modules/saml/host',
  'modules/traffic_policy/compile',
  'modules/webhook_verification/compile',
  'policy/document/check',
  'regex/pattern',
  'regex/pattern_set',
  'simulator/compress',
  'simulator/document/connections',
  'simulator/document/curl',
  'simulator/document/raw_request',
  'simulator/expect/because',
  'simulator/expect/deeper',
  'simulator/expect/expression_values',
  'simulator/expect/stream_expectation',
  'simulator/near_miss',
  'simulator/report/failure',
  'simulator/run_connect',
  'simulator/sample',
  'simulator/search/shrink',
  'simulator/snapshot',
];

/** What goes into one file each: these modules and whatever they import that no file above has. */
// table: chunks
const CHUNKS = {
  edge: ['cli/run', 'cli/load_config', 'edge/compile'],
  test: ['cli/test', 'simulator/report/pretty'],
  policy: ['policy/document/check', 'modules/traffic_policy/compile'],
};

/**
 * The command line in a few files, a chunk for what a verb loads: loading hundreds of small modules is most of the
 * time from the start of the process to its first line. CommonJS starts faster, and can load a file in the midst of a
 * function. The library stays as the compiler wrote it.
 */
export default defineConfig({
  input: { main: 'dist/cli/launch.js', run: 'dist/cli/run.js' },
  platform: 'node',
  // `undici` and the libraries of the login gates read files beside them, or are loaded by few.
  external: ['undici', '@node-saml/node-saml', 'openid-client', 'ws', 'selfsigned'],
  plugins: [
    withoutPrograms(),
    loadedByUse(LOADED_BY_USE),
    constantExports(),
    importingByLauncher(),
    licenses(),
  ],
  output: {
    dir: 'dist/bin',
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true, asciiOnly: true } },
    comments: false,
    format: 'cjs',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: [
        { name: 'commander', test: /\/node_modules\/commander\//, priority: 20 },
        ...Object.entries(CHUNKS).map(([name, roots], index) => ({
          name,
          test: (id: string) => roots.some((root) => id === builtPath(root)),
          priority: 10 - index,
        })),
      ],
    },
  },
});

function builtPath(module: string): string {
  return resolve('dist', `${module}.js`);
}

const STAND_IN = '\0stand-in:';

/** Puts a stand-in before each of these modules, whose functions load the module and go on there. */
function loadedByUse(modules: readonly string[]): Plugin {
  const files = new Map(modules.map((module) => [builtPath(module), `${module.replaceAll('/', '.')}.js`]));
  return {
    name: 'loaded-by-use',
    buildStart() {
      for (const [id, fileName] of files) this.emitFile({ type: 'chunk', id, fileName });
    },
    resolveId: {
      order: 'pre',
      async handler(source, importer) {
        if (importer === undefined || !source.startsWith('.')) return null;
        if (importer.startsWith(STAND_IN)) return { id: source, external: true };
        const found = await this.resolve(source, importer, { skipSelf: true });
        return found !== null && files.has(found.id) ? `${STAND_IN}${found.id}` : found;
      },
    },
    async load(id) {
      if (!id.startsWith(STAND_IN)) return null;
      const path = id.slice(STAND_IN.length);
      return standIn(await readFile(path, 'utf8'), files.get(path)!, relative('dist', path));
    },
  };
}

function standIn(code: string, fileName: string, path: string): string {
  const lines = [`let module; const load = () => (module ??= require('./${fileName}'));`];
  for (const node of parseSync(path, code).program.body) {
    if (node.type !== 'ExportNamedDeclaration' || node.declaration === null) continue;
    const { declaration } = node;
    if (declaration.type === 'FunctionDeclaration') {
      const { name } = declaration.id!;
      lines.push(`export function ${name}(...given) { return load().${name}(...given); }`);
    } else if (declaration.type === 'VariableDeclaration' && declaration.declarations.every(isPlain)) {
      lines.push(code.slice(node.start, node.end));
    }
  }
  return lines.join('\n');
}

/** Whether a constant is made of literals alone. */
function isPlain({ init }: ESTree.VariableDeclarator): boolean {
  if (init?.type === 'BinaryExpression') return init.left.type === 'Literal' && init.right.type === 'Literal';
  return init?.type === 'Literal';
}

/** commander can begin other programs as verbs; ours are none, and the module takes longer to load than commander. */
function withoutPrograms(): Plugin {
  return {
    name: 'without-programs',
    resolveId: (source, importer) =>
      source === 'node:child_process' && importer?.includes('/commander/') === true ? '\0no-programs' : null,
    load: (id) => (id === '\0no-programs' ? 'export default {};' : null),
  };
}

const EXPORT =
  /^(?:exports\.([\w$]+) = ([\w$]+);|Object\.defineProperty\(exports, "([\w$]+)", \{\s*enumerable: true,\s*get: function ?\(\) \{\s*return ([\w$]+);\s*\}\s*\}\);)$/gm;

/**
 * Chunks call each other all the time. rolldown gives each function through a getter, of an object with more of them
 * than V8 keeps in order; the fields of a literal it takes for what they are, as if all were in one file.
 */
function constantExports(): Plugin {
  return {
    name: 'constant-exports',
    renderChunk(code) {
      const given: string[] = [];
      const rest = code.replaceAll(EXPORT, (whole, name, value, ownName, ownValue) => {
        // What gets its value later is looked up later.
        if (new RegExp(`\\blet ${ownValue ?? value};`).test(code))
          throw new Error(`${whole} is given too early`);
        given.push(`${ownName ?? name}: ${ownValue ?? value}`);
        return '';
      });
      return given.length === 0 ? null : `${rest}\nmodule.exports = { ${given.join(', ')} };`;
    },
    generateBundle(_options, bundle) {
      const walk = (fileName: string, path: readonly string[]): void => {
        // Of a circle one would see the exports of another before they are there.
        if (path.includes(fileName))
          throw new Error(`chunks in a circle: ${[...path, fileName].join(' → ')}`);
        const chunk = bundle[fileName];
        if (chunk?.type === 'chunk') for (const each of chunk.imports) walk(each, [...path, fileName]);
      };
      for (const fileName of Object.keys(bundle)) walk(fileName, []);
    },
  };
}

/** `import()` works only in files that Node has loaded itself: in the others the launcher does it for them. */
function importingByLauncher(): Plugin {
  return {
    name: 'importing-by-launcher',
    renderChunk(code, { fileName }) {
      if (fileName === 'main.js' || !code.includes('import(')) return null;
      const places: number[] = [];
      new Visitor({ ImportExpression: ({ start }) => void places.push(start) }).visit(
        parseSync(fileName, code).program,
      );
      const replaced = places
        .toReversed()
        .reduce(
          (text, start) => `${text.slice(0, start)}importModule${text.slice(start + 'import'.length)}`,
          code,
        );
      return { code: replaced, map: null };
    },
  };
}

/** Whose code is in the bundle, with the licences under which it is. */
function licenses(): Plugin {
  return {
    name: 'licenses',
    async generateBundle(_options, bundle) {
      const parts = Object.values(bundle).flatMap((part) => ('moduleIds' in part ? part.moduleIds : []));
      const folders = new Set(parts.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []));
      const texts = await Promise.all([...folders].toSorted().map(licenseOf));
      this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: texts.join('\n\n') });
      // The package is of modules; these files are not.
      this.emitFile({ type: 'asset', fileName: 'package.json', source: '{ "type": "commonjs" }\n' });
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
