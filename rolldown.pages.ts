import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { readFile } from 'node:fs/promises';
import type { Plugin, RolldownOptions } from 'rolldown';
import { licenses, licensesOf } from './rolldown.licenses.ts';
import { type Parts, loadedLater } from './rolldown.parts.ts';

const twinOf = (name: string): string => fileURLToPath(new URL(`src/browser/${name}.ts`, import.meta.url));

/** Modules of Node with a twin for pages. */
// table: twins
const TWINS: Readonly<Record<string, string>> = {
  'node:buffer': 'buffer',
  'node:crypto': 'crypto',
  'node:fs': 'fs',
  'node:path': 'path',
  'node:url': 'url',
  'node:util': 'style_text',
  'node:zlib': 'zlib',
};

/** Puts the twins in the place of Node's modules, and refuses those that have none. */
function twins(): Plugin {
  return {
    name: 'twins',
    async resolveId(id, importer) {
      if (id.endsWith('/loading/builtins.ts')) return this.resolve(twinOf('builtins'), importer);
      if (!id.startsWith('node:')) return null;
      const name = TWINS[id];
      // Resolved as a path is: with a path alone, the kind of module would be that of the importer which comes first.
      if (name !== undefined) return this.resolve(twinOf(name), importer);
      throw new Error(`${importer} needs ${id}, which pages do not have`);
    },
  };
}

/** What every script of a page has in common. */
export const PAGE_SCRIPT = {
  platform: 'browser',
  plugins: [twins()],
  transform: {
    inject: { Buffer: [twinOf('buffer'), 'Buffer'], process: [twinOf('process'), 'process'] },
  },
} as const satisfies RolldownOptions;

/** Files of a page that are no scripts, unchanged. */
function copied(folder: string, names: readonly string[]): Plugin {
  return {
    name: 'copied',
    async generateBundle() {
      for (const name of names)
        this.emitFile({ type: 'asset', fileName: name, source: await readFile(`${folder}/${name}`) });
    },
  };
}

/** The styles of all pages, then those of packages, then those of one page. */
function styles(folder: string, ...packages: readonly string[]): Plugin {
  return {
    name: 'styles',
    async generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'page.css', source: await stylesOf(folder, packages) });
    },
  };
}

async function stylesOf(folder: string, packages: readonly string[]): Promise<string> {
  const paths = ['src/pages/base.css', ...packages, `${folder}/page.css`];
  const parts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
  return parts.join('\n');
}

/** A page that is a folder of files: the script, and chunks that it loads later. */
function page(ui: string, dir: string, ...stylesOfPackages: readonly string[]): RolldownOptions {
  return {
    ...PAGE_SCRIPT,
    input: { page: `${ui}/page.tsx` },
    plugins: [
      ...PAGE_SCRIPT.plugins,
      copied(ui, ['index.html']),
      licenses(),
      styles(ui, ...stylesOfPackages),
    ],
    transform: { ...PAGE_SCRIPT.transform, target: 'es2024' },
    output: { ...OUTPUT, dir, chunkFileNames: '[name]-[hash].js' },
  };
}

const OUTPUT = { format: 'esm', entryFileNames: '[name].js', minify: true, comments: false } as const;

/** Parts of the engine that the worker loads after its first answer, or when it needs them. */
// table: parts
export const ENGINE_PARTS: Parts = {
  policies: {
    'src/policy/module_compile.ts': ['trafficPolicyCompilation'],
    'src/policy/document/action_types.ts': ['unconditionalActionsIn'],
    'src/policy/document/check.ts': ['checkAttachedPolicy', 'checkPolicyAt', 'checkPolicyText'],
    'src/cel/program.ts': ['compile', 'parse'],
    'src/cel/explain.ts': ['tracer'],
    'src/cel/plan/planner.ts': ['planTyped'],
    'src/policy/env/scopes.ts': ['scopeFor'],
    'src/policy/env/template.ts': ['compileTemplate'],
    'src/policy/env/template_tree.ts': ['compileTemplateTree'],
  },
  webhooks: { 'src/webhooks/module_compile.ts': ['compileWebhookVerification'] },
  patterns: { 'node_modules/re2js/build/index.js': ['RE2JS', 'RE2Set'] },
  logins: {
    'src/auth/module_gate.ts': ['gateHandler', 'linkedLogin'],
    'src/auth/oauth/provider.ts': ['MANAGED_APP', 'oauthProvider'],
    'src/auth/oidc/provider.ts': ['oidcProvider'],
    'src/auth/saml/module_compile.ts': ['compileSaml', 'samlSettings'],
    'src/auth/saml/module_service_host.ts': ['samlHostHandler'],
    'src/dev_idp/simulated.ts': ['simulatedIdentities'],
  },
  keys: {
    'node_modules/@noble/curves/ed25519.js': ['ed25519'],
    'node_modules/@noble/curves/nist.js': ['p256', 'p384', 'p521'],
    'node_modules/@noble/ciphers/aes.js': ['gcm'],
    'node_modules/micro-rsa-dsa-dh/rsa.js': [
      'PKCS1_SHA1',
      'PKCS1_SHA256',
      'PKCS1_SHA384',
      'PKCS1_SHA512',
      'PSS',
      'mgf1',
    ],
  },
  compression: { 'node_modules/pako/dist/pako.mjs': ['Deflate', 'Inflate'] },
  near_misses: { 'src/simulator/near_miss.ts': ['nearMiss'] },
  agents: { 'src/tunnel/binding/endpoint_config.ts': ['endpointConfig'] },
  curl: { 'src/simulator/document/curl.ts': ['readCurl'] },
};

/** Files that it loads by use. A test of the page fails for one that is missing here. */
const ENGINE_FILES = ['property_file.ts', 'certificate_files.ts'].map((name) => `src/project_files/${name}`);

/** The parts of the engine, which load later. */
export const engineParts = (): Plugin =>
  loadedLater(ENGINE_PARTS, [...ENGINE_FILES, 'src/simulator/webhook_signer.ts']);

/** The playground: the page, its editor as a chunk of its own, and the engine in a worker. */
export function playground(dir: string): RolldownOptions[] {
  return [
    page('src/playground/ui', dir),
    {
      ...PAGE_SCRIPT,
      input: { worker: 'src/playground/worker.ts' },
      plugins: [engineParts(), ...PAGE_SCRIPT.plugins, licenses('LICENSES_of_engine.txt')],
      output: { ...OUTPUT, dir, chunkFileNames: 'engine_[name]-[hash].js' },
    },
  ];
}

/** The inspector: the page; its editor, overview and plots are chunks of their own. */
export const inspector = (dir: string): RolldownOptions =>
  page('src/inspector/ui', dir, 'node_modules/uplot/dist/uPlot.min.css');

/** The page of reports: one file with its script and styles, and with room for what a report contains. */
export const report = (dir: string): RolldownOptions => ({
  ...PAGE_SCRIPT,
  input: { report: 'src/reports/ui/page.tsx' },
  plugins: [...PAGE_SCRIPT.plugins, oneFile('src/reports/ui', 'node_modules/uplot/dist/uPlot.min.css')],
  transform: { ...PAGE_SCRIPT.transform, target: 'es2024' },
  output: { ...OUTPUT, format: 'iife', dir, codeSplitting: false },
});

/** Puts the script and the styles into the page, and their hashes into its policy: nothing else runs in it. */
function oneFile(folder: string, ...packages: readonly string[]): Plugin {
  return {
    name: 'one file',
    async generateBundle(_options, bundle) {
      const license = escapedText(await licensesOf(bundle));
      const [chunk] = Object.values(bundle);
      if (chunk?.type !== 'chunk') throw new Error('the page of reports has no script');
      delete bundle[chunk.fileName];
      // In a page, these would end the script or begin a comment.
      const script = chunk.code.replaceAll(/<(?=\/script|!--)/gi, String.raw`\x3c`).trim();
      const style = await stylesOf(folder, packages);
      const texts = { script, style, license, 'script hash': hashOf(script), 'style hash': hashOf(style) };
      const around = await readFile(`${folder}/index.html`, 'utf8');
      const source = around.replaceAll(
        /\s*%(script|style|license)%\s*|%(script hash|style hash)%/g,
        (_room, block: keyof typeof texts, hash: keyof typeof texts) => texts[block ?? hash],
      );
      this.emitFile({ type: 'asset', fileName: 'report.html', source });
    },
  };
}

const escapedText = (text: string): string =>
  text.replaceAll(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
