import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { readFile } from 'node:fs/promises';
import type { Plugin, RolldownOptions } from 'rolldown';
import { licenses, licensesOf } from './rolldown.licenses.ts';

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
    resolveId(id, importer) {
      if (!id.startsWith('node:')) return null;
      const name = TWINS[id];
      if (name !== undefined) return twinOf(name);
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

/** The playground: the page, its editor as a chunk of its own, and the engine in a worker. */
export function playground(dir: string): RolldownOptions[] {
  return [
    page('src/playground/ui', dir),
    // In one file: a page asks its server for nothing after it was loaded.
    {
      ...PAGE_SCRIPT,
      input: { worker: 'src/playground/worker.ts' },
      plugins: [...PAGE_SCRIPT.plugins, licenses('LICENSES_of_engine.txt')],
      output: { ...OUTPUT, dir, codeSplitting: false },
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
