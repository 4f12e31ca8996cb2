import { readFileSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Diagnostic, Source } from '../diagnostics/diagnostic.ts';
import type { PolicySetting } from '../policy/document/setting.ts';
import type { KeyOptions } from './certificate_files.ts';
import { type Checked, type SemanticCheck, checkEdge } from '../edge/document/check.ts';
import { brandingOf } from '../engine/branding.ts';
import { kindOfFile, reportKind } from './file_kind.ts';

/** A file that cannot be read at all; the message is for the user. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

export const SCRIPTS: ReadonlySet<string> = new Set(['.ts', '.mts', '.js', '.mjs']);
/** The names of what only `edge/semantic_checks.ts` understands. */
const LANGUAGES_INSIDE = /traffic_policy|webhook_verification|facts|certificate|idp_metadata/;
let loads = 0;

/** Whether the file is a program that exports an edge. */
export function isScript(path: string): boolean {
  return SCRIPTS.has(extname(path));
}

/** Gives the findings about a text; `checkerFor` tells which kind of file it is. */
export type Checker = (source: Source) => readonly Diagnostic[];

/** What the command line says of the endpoint that carries a policy of its own file. */
export type Surrounding = Pick<PolicySetting, 'carriedBy' | 'plan' | 'strict'>;

/** The checker for a text, with the code that it needs and no more. */
export async function checkerFor(text: string, surrounding: Surrounding = {}): Promise<Checker> {
  const kind = await kindOfFile(text);
  if (kind === 'scenario') {
    const { checkScenario } = await import('../simulator/document/check.ts');
    return (source) => checkScenario(source).diagnostics;
  }
  if (kind === 'policy') {
    const { checkPolicy } = await import('../policy/document/check.ts');
    const branding = brandingOf('service');
    return (source) => checkPolicy(source, { branding, ...surrounding }).diagnostics;
  }
  // Most files hold no policy, and the code that understands policies takes longer to load than all the rest.
  const { strict = false } = surrounding;
  const further = LANGUAGES_INSIDE.test(text) ? await furtherChecks({ strict }) : () => [];
  return (source) => checkEdge(source, further(source.name)).diagnostics;
}

/** Reads and checks an edge file: YAML, JSON, or a TypeScript or JavaScript module with a default export. */
export async function loadConfig(path: string, options: KeyOptions = {}): Promise<Checked> {
  if (isScript(path)) return checkConfigValue(await importDefault(path), path, options);
  const text = readText(path);
  const further = LANGUAGES_INSIDE.test(text) ? await furtherChecks(options) : () => [];
  const source = { name: path, text };
  const checked = checkEdge(source, further(path));
  if (checked.config === null)
    return { ...checked, diagnostics: await reportKind(checked.diagnostics, text, 'edge') };
  if (!text.includes('traffic_policy')) return checked;
  const { locateInPolicies } = await import('../edge/policy_places.ts');
  return { ...checked, locate: locateInPolicies(source, checked) };
}

/** Checks an edge that was handed over as an object; files that it names stand beside `path`. */
export async function checkConfigValue(
  value: unknown,
  path = '.',
  options: KeyOptions = {},
): Promise<Checked> {
  const further = namesLanguages(value) ? await furtherChecks(options) : () => [];
  return checkEdge({ value }, further(path));
}

function namesLanguages(value: unknown): boolean {
  try {
    return LANGUAGES_INSIDE.test(JSON.stringify(value) ?? '');
  } catch {
    // What cannot be written as JSON departs from the shape, and is checked for all that it may hold.
    return true;
  }
}

/** The text of a file, or a FileError. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new FileError(`cannot read ${path}: ${reasonOf(error)}`);
  }
}

async function furtherChecks({
  strict = false,
  ...options
}: KeyOptions & { readonly strict?: boolean } = {}): Promise<(edgeFile: string) => readonly SemanticCheck[]> {
  const { semanticChecks: checksOf } = await import('../edge/semantic_checks.ts');
  const { certificateFiles } = await import('./certificate_files.ts');
  const { checkCertificateTimes } = await import('../edge/certificates.ts');
  const nowMs = Date.now();
  const checks = checksOf({ nowMs, strict });
  return (edgeFile) => [
    ...checks,
    certificateFiles(edgeFile, options),
    (checking) => checkCertificateTimes(checking, nowMs),
  ];
}

/** The default export of a module, loaded anew. */
export async function importDefault(path: string): Promise<unknown> {
  const url = pathToFileURL(resolve(path));
  // A module is loaded once a URL; a reload needs another one.
  url.searchParams.set('load', String(++loads));
  let module: { readonly default?: unknown };
  try {
    module = (await import(url.href)) as typeof module;
  } catch (error) {
    throw new FileError(`cannot load ${path}: ${reasonOf(error)}`);
  }
  if (module.default === undefined) throw new FileError(`${path} has no default export`);
  return module.default;
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'EACCES') return 'permission denied';
  return error instanceof Error ? error.message : String(error);
}
