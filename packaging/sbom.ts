import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Prints a bill of materials in CycloneDX: the packages that npm installs with edgeproof, and those that its files contain.
 * The same sources give the same bytes. `npm run build` comes first.
 */
const ROOT = join(import.meta.dirname, '..');

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}
interface Locked {
  readonly version: string;
  readonly dev?: true;
  readonly peer?: true;
  readonly optional?: true;
}
interface Component {
  readonly 'bom-ref': string;
}
interface Bom {
  readonly metadata: { readonly component: Component } & Readonly<Record<string, unknown>>;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const { stdout } = await promisify(execFile)('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
  cwd: ROOT,
  maxBuffer: 2 ** 26,
});
const whole = JSON.parse(stdout) as Bom;
const [installed, contained] = [await installedPackages(), await containedPackages()];
const components = whole.components
  .filter(({ 'bom-ref': ref }) => installed.has(ref) || contained.has(ref))
  // npm says here who installs the package; of several copies it may mean one that only developers have.
  .map((component) =>
    Object.assign(component, {
      properties: contained.has(component['bom-ref']) ? [{ name: 'edgeproof:bundled', value: 'true' }] : [],
    }),
  );
const shipped = new Set([whole.metadata.component['bom-ref'], ...components.map((each) => each['bom-ref'])]);
const dependencies = whole.dependencies
  .filter(({ ref }) => shipped.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => shipped.has(each)) }));
const { timestamp: _now, ...metadata } = whole.metadata;
const bom = {
  ...whole,
  serialNumber: `urn:uuid:${uuidOf(JSON.stringify(components))}`,
  metadata: {
    ...metadata,
    ...dateOfBuild(),
    component: { ...whole.metadata.component, name: 'edgeproof' },
  },
  components,
  dependencies,
};
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);

/** The packages that npm installs for users, as `name@version`. */
async function installedPackages(): Promise<ReadonlySet<string>> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  return new Set(
    Object.entries(packages).flatMap(([folder, { version, dev, peer, optional }]) =>
      folder === '' || dev || peer || optional
        ? []
        : [`${folder.replace(/^.*node_modules\//, '')}@${version}`],
    ),
  );
}

/** The packages in the bundle, as `name@version`: the build lists their licences. */
async function containedPackages(): Promise<ReadonlySet<string>> {
  const licenses = await readFile(join(ROOT, 'dist/lib/LICENSES.txt'), 'utf8');
  return new Set(
    [...licenses.matchAll(/^(\S+) (\d+\.\d+\.\d+\S*)$/gm)].map(([, name, version]) => `${name}@${version}`),
  );
}

/** A UUID of version 8 (RFC 9562 §5.8) that depends on the content alone. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The date that reproducible builds agree on: seconds since 1970 in SOURCE_DATE_EPOCH. */
function dateOfBuild(): { readonly timestamp?: string } {
  const seconds = process.env['SOURCE_DATE_EPOCH'];
  return seconds === undefined ? {} : { timestamp: new Date(Number(seconds) * 1_000).toISOString() };
}
