import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Diagnostic, Source } from '../diagnostics/diagnostic.ts';
import { assembleFrom, namedService } from './assemble.ts';
import type { NamedFiles } from './named_files.ts';
import type { PolicySetting } from '../policy/document/setting.ts';
import type { KeyOptions } from './certificate_files.ts';
import { type Checked, type SemanticCheck, checkEdge } from '../edge/document/check.ts';
import { trafficPolicy } from '../policy/facts.ts';
import { brandingOf } from '../engine/branding.ts';
import { isPropertyFile, kindOfFile, reportKind } from './file_kind.ts';
import { FILES_BESIDE, nameNear } from './files_beside.ts';
import { runProgram } from './programs.ts';
import { fileFailure } from '../diagnostics/system_failure.ts';
import { readBounded } from './read_bounded.ts';
import type { Sources } from './sources.ts';
import type { FilesBeside } from '../simulator/document/beside.ts';

/** A file that cannot be read; the message is for the user. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

export const SCRIPTS: ReadonlySet<string> = new Set(['.ts', '.mts', '.js', '.mjs']);
/** Keys whose values only `edge/semantic_checks.ts` and `property_file.ts` can check. */
const LANGUAGES_INSIDE = new RegExp(`${trafficPolicy.module.type}|facts|certificate|properties|include`);

/** Whether the file is a program that exports an edge. */
export function isScript(path: string): boolean {
  return SCRIPTS.has(extname(path));
}

/** Returns the findings about a text; `checkerFor` chooses it by the kind of file. */
export type Checker = (source: Source) => readonly Diagnostic[];

/** What a configuration is read with. */
export interface LoadOptions extends KeyOptions {
  readonly strict?: boolean;
  /** The service name, instead of that of the file. */
  readonly serviceName?: string | undefined;
  /** Default the disk. */
  readonly sources?: Sources | undefined;
}

/** The endpoint of a policy file, as given on the command line. */
export interface Surrounding extends Pick<PolicySetting, 'attachedTo' | 'plan' | 'strict'> {
  readonly serviceName?: string | undefined;
  /** The files that an edge file of this name may name; default those on disk. */
  readonly filesOf?: (root: string) => NamedFiles;
  /** The files that a scenario file may name; default those on disk. */
  readonly beside?: FilesBeside;
}

/** The checker for a text, loading only the code that it needs. */
export async function checkerFor(
  text: string,
  surrounding: Surrounding & { readonly name?: string } = {},
): Promise<Checker> {
  if (isPropertyFile(text)) {
    const { readProperties } = await import('./property_file.ts');
    return (source) => readProperties(source).diagnostics;
  }
  const kind = await kindOfFile(text, surrounding.name);
  if (kind === 'scenario') {
    const { checkScenario } = await import('../simulator/document/check.ts');
    const { beside = FILES_BESIDE } = surrounding;
    return (source) => checkScenario(source, beside).diagnostics;
  }
  if (kind === 'policy') {
    const { checkPolicy } = await import('../policy/document/check.ts');
    const {
      serviceName = 'service',
      filesOf: _edges,
      beside: _scenarios,
      name: _name,
      ...setting
    } = surrounding;
    const branding = brandingOf(serviceName);
    return (source) => checkPolicy(source, { branding, ...setting }).diagnostics;
  }
  // Most files have no policy, and the policy code takes longer to load than everything else.
  const { strict = false, serviceName, filesOf } = surrounding;
  const further = LANGUAGES_INSIDE.test(text) ? await loadSemanticChecks({ strict }) : () => [];
  return (source) => {
    const assemble = namedService(assembleFrom(source.name, filesOf?.(source.name)), serviceName);
    return checkEdge(source, further(source.name), { nowMs: Date.now(), assemble }).diagnostics;
  };
}

/** Reads and checks an edge file: YAML, JSON, or a TypeScript or JavaScript module with a default export. */
export async function loadConfig(path: string, options: LoadOptions = {}): Promise<Checked> {
  if (isScript(path)) return ofScript(path, await importDefault(path, options.sources), options);
  const files = options.sources?.filesOf(path);
  return loadConfigText(path, readText(path, options.sources), { ...options, ...(files && { files }) });
}

/** Checks the value that a program exports. Its text is not known to be the place of a finding, so only the file is named. */
async function ofScript(path: string, value: unknown, options: LoadOptions): Promise<Checked> {
  const checked = await checkConfigValue(value, path, options);
  const source = { name: path, text: '' };
  const named = (one: Diagnostic): Diagnostic => (one.source ? one : { ...one, source });
  return { ...checked, diagnostics: checked.diagnostics.map(named) };
}

/** As `loadConfig`, for the text of a file. */
export async function loadConfigText(
  path: string,
  text: string,
  options: LoadOptions & { readonly files?: NamedFiles } = {},
): Promise<Checked> {
  const certificates: string[] = [];
  const names = (file: string): void => void certificates.push(file);
  const further = LANGUAGES_INSIDE.test(text) ? await loadSemanticChecks({ ...options, names }) : () => [];
  const source = { name: path, text };
  const { files, serviceName, ...known } = options;
  const assemble = namedService(assembleFrom(path, files, options.standIns), serviceName);
  const found = checkEdge(source, further(pathOf(path)), { nowMs: Date.now(), ...known, assemble });
  const checked = { ...found, files: [...found.files, ...certificates] };
  if (checked.config === null)
    return { ...checked, diagnostics: await reportKind(checked.diagnostics, text, 'edge') };
  if (!LANGUAGES_INSIDE.test(text)) return checked;
  const { locateInPolicies } = await import('../edge/policy_places.ts');
  return { ...checked, locate: locateInPolicies(checked) };
}

/** Checks an edge that was given as an object; files that it names are relative to `path`. */
export async function checkConfigValue(
  value: unknown,
  path = '.',
  options: LoadOptions = {},
): Promise<Checked> {
  const further = namesLanguages(value) ? await loadSemanticChecks(options) : () => [];
  const assemble = namedService(assembleFrom(path, undefined, options.standIns), options.serviceName);
  return checkEdge({ value }, further(path), { nowMs: Date.now(), ...options, assemble });
}

/** The path of a file, without the git revision that it may be of. */
function pathOf(name: string): string {
  return existsSync(name) ? name : name.slice(name.indexOf(':') + 1);
}

function namesLanguages(value: unknown): boolean {
  try {
    return LANGUAGES_INSIDE.test(JSON.stringify(value) ?? '');
  } catch {
    // What cannot be written as JSON is invalid, and is checked for everything.
    return true;
  }
}

/** Open files of this process, such as the pipe that a shell makes of `<(command)`. */
const DESCRIPTOR = /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/;

/** Bytes read from descriptors, by path: a pipe can be read only once, and several parts of a command ask for it. */
const descriptorBytes = new Map<string, Buffer>();

/** Reads a file, or standard input for `-`; throws FileError. */
export function readBytes(path: string): Buffer {
  if (path === '') throw new FileError('the name of a file is empty; name one');
  const known = descriptorBytes.get(path);
  if (known !== undefined) return known;
  const called = path === '-' ? 'standard input' : path;
  try {
    const bytes = readBounded(path === '-' ? 0 : path);
    if (DESCRIPTOR.test(path)) descriptorBytes.set(path, bytes);
    return bytes;
  } catch (error) {
    const near = (error as NodeJS.ErrnoException).code === 'ENOENT' ? nameNear(path) : undefined;
    throw new FileError(
      near === undefined
        ? fileFailure('read', called, error)
        : `cannot read ${path}: there is no such file; ${near}`,
    );
  }
}

/** Reads a file as text in UTF-8; throws FileError. */
export function readText(path: string, sources?: Sources): string {
  const own = sources?.read(path) ?? null;
  if (own !== null) return own;
  const bytes = readBytes(path);
  const problem = encodingProblem(bytes);
  if (problem !== null) throw new FileError(`cannot read ${path}: ${problem}`);
  return bytes.toString('utf8');
}

/** Reads a file that is checked: where it is not a text in UTF-8, that is a finding. */
export async function readChecked(path: string): Promise<Source | Diagnostic> {
  const bytes = readBytes(path);
  const name = path;
  // Zero bytes are found by the checkers, which name their place.
  if (isUtf8(bytes)) return { name, text: bytes.toString('utf8') };
  const message = encodingProblem(bytes)!;
  const text = new TextDecoder(
    !isUtf16(bytes) ? 'utf-8' : bytes[0] === 0xfe ? 'utf-16be' : 'utf-16le',
  ).decode(bytes);
  const code = `${await kindOfFile(text)}.not_text`;
  const start = Math.max(text.indexOf('\ufffd'), 0);
  return {
    code,
    severity: 'error',
    message,
    pointer: '',
    source: { name, text },
    span: { start, end: start + 1 },
  };
}

function isUtf16(bytes: Buffer): boolean {
  return (
    bytes.length > 1 && ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
  );
}

/** Why bytes are not a text in UTF-8, with a cure; null if they are. */
function encodingProblem(bytes: Buffer): string | null {
  if (isUtf16(bytes)) return 'it is encoded in UTF-16; save it as UTF-8';
  if (bytes.includes(0)) return 'it is not a text: it contains zero bytes; name a text file in UTF-8';
  return isUtf8(bytes) ? null : 'it is not encoded in UTF-8; save it as UTF-8';
}

/** The checks of languages and files inside an edge; with hosts `any`, it takes the requests of every host. */
export async function loadSemanticChecks({
  strict = false,
  hosts = 'named',
  ...options
}: LoadOptions & { readonly hosts?: 'named' | 'any' } = {}): Promise<
  (edgeFile: string) => readonly SemanticCheck[]
> {
  const { semanticChecks: checksOf } = await import('../edge/semantic_checks.ts');
  const { certificateFiles } = await import('./certificate_files.ts');
  const { checkCertificateTimes } = await import('../edge/certificates.ts');
  const { checkProperties } = await import('./property_file.ts');
  const nowMs = Date.now();
  const checks = checksOf({ strict, hosts });
  return (edgeFile) => [
    ...checks,
    certificateFiles(edgeFile, options),
    (checking) => checkCertificateTimes(checking, nowMs),
    checkProperties,
  ];
}

/** The path with the line that Node names for a syntax error. */
function placeIn(path: string, error: unknown): string {
  const first = error instanceof SyntaxError ? (error.stack ?? '').split('\n', 1)[0]! : '';
  const line = /(?<=[.][cm]?[jt]s(?:[?]load=\d+)?:)\d+$/.exec(first)?.[0];
  return line === undefined ? path : `${path}:${line}`;
}

/** The default export of a module, loaded again; throws FileError. With sources of their own, programs are not run. */
export async function importDefault(path: string, sources?: Sources): Promise<unknown> {
  if (sources !== undefined) throw new FileError(`${path} is a program, which is not run here`);
  const url = pathToFileURL(resolve(path));
  let module: { readonly default?: unknown };
  try {
    module = await runProgram(path, async (number) => {
      // A module is loaded once per URL, so a reload needs a new one.
      url.searchParams.set('load', String(number));
      return (await import(url.href)) as typeof module;
    });
  } catch (error) {
    throw new FileError(fileFailure('load', placeIn(path, error), error));
  }
  if (module.default === undefined)
    throw new FileError(`${path} has no default export; write \`export default defineEdge({ … })\``);
  return module.default;
}
