import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

/**
 * Builds the single-file binary: the pinned Node with the files of the package and of its dependencies as assets, in the
 * folders in which npm installs them, so that the binary runs the same files as the package. `npm run build` comes first.
 */
const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'dist/binary');
const OURS = ['dist/lib', 'dist/inspector', 'dist/playground', 'dist/report', 'schema'];
/** What Node loads, what editors read, and pages. Types and source maps stay out. */
const LOADED = /(?:\.(?:[cm]?js|json)|\/(?:inspector|playground|report)\/.*\.(?:css|html|txt))$/;

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}
interface Locked {
  readonly dev?: true;
  readonly peer?: true;
  readonly optional?: true;
}

const packages = await installedPackages();
const files = [
  ...(await Promise.all([...OURS, ...packages].map(loadedFiles))).flat(),
  'package.json',
].toSorted();
await mkdir(FOLDER, { recursive: true });
const main = join(FOLDER, 'main.cjs');
await writeFile(main, "require('./dist/lib/main.cjs');\n");
const output = join(FOLDER, 'edgeproof');
const config = join(FOLDER, 'sea.json');
const options = {
  main,
  output,
  executable: await strippedNode(),
  useVfs: true,
  disableExperimentalSEAWarning: true,
  // Otherwise Node would read options for itself from the arguments and the environment of edgeproof.
  execArgvExtension: 'none',
  assets: Object.fromEntries(files.map((file) => [file, join(ROOT, file)])),
};
await writeFile(config, JSON.stringify(options));
await run(process.execPath, ['--build-sea', config]);
await Promise.all([main, config, join(FOLDER, 'node')].map((file) => rm(file, { force: true })));
await writeFile(join(FOLDER, 'LICENSES.txt'), await licenses());

/** The folders of the packages that users get with edgeproof. */
async function installedPackages(): Promise<string[]> {
  const { packages: locked } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  return Object.entries(locked).flatMap(([folder, { dev, peer, optional }]) =>
    folder === '' || folder.includes('@types/') || dev || peer || optional ? [] : [folder],
  );
}

async function loadedFiles(folder: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && LOADED.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => !path.slice(folder.length).includes('/node_modules/'));
}

/** Node without its symbols, which are a fifth of it; with them where the program that removes them is missing. */
async function strippedNode(): Promise<string> {
  const stripped = join(FOLDER, 'node');
  try {
    await run('strip', ['--strip-all', '-o', stripped, process.execPath]);
    return stripped;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return process.execPath;
  }
}

/** The licences of all that the binary contains. The package of Node has no such file, so Node's is named by its address. */
async function licenses(): Promise<string> {
  const node = `node ${process.versions.node}\n\nhttps://github.com/nodejs/node/blob/v${process.versions.node}/LICENSE`;
  const named = await Promise.all(packages.map((folder) => licenseOf(join(ROOT, folder))));
  return [node, ...named, await readFile(join(ROOT, 'dist/lib/LICENSES.txt'), 'utf8')].join('\n\n');
}

async function licenseOf(folder: string): Promise<string> {
  const file = (await readdir(folder)).find((name) => /^licen[cs]e/i.test(name));
  const { name, version, license } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  ) as Record<'name' | 'version' | 'license', string>;
  const text = file === undefined ? license : await readFile(join(folder, file), 'utf8');
  return `${name} ${version}\n\n${text}`;
}
