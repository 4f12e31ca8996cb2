import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import type { EndpointKind, Plan } from '../policy/document/setting.ts';
import { writeText } from './write_file.ts';
import type { CheckReporter } from './check_reports.ts';
import { EXIT } from './exit_codes.ts';
import {
  FileError,
  type Surrounding,
  checkerFor,
  isScript,
  loadConfig,
  readBytes,
  readChecked,
  readText,
} from '../project_files/load_config.ts';
import { isOfKnownKind } from '../project_files/file_kind.ts';
import { namedFiles } from './named_files.ts';
import { wantsColor } from './terminal.ts';
import { counted } from '../diagnostics/message_text.ts';
import { placesOf } from './usual_files.ts';
import { type Output, stderr, stdout } from './output.ts';
import { isDocumentName } from '../config_file/document.ts';

export interface CheckOptions {
  readonly reporter?: CheckReporter;
  readonly fix?: boolean;
  readonly strict?: boolean;
  readonly exact?: boolean;
  /** Seconds for which a user who lost access may keep it. */
  readonly sessionBound?: number;
  readonly as?: EndpointKind;
  readonly plan?: Plan;
  readonly serviceName?: string;
}

/** Checks files and returns the exit code. */
export async function check(
  paths: readonly string[],
  {
    reporter = 'text',
    fix = false,
    strict = false,
    sessionBound,
    exact = sessionBound !== undefined,
    as,
    plan,
    serviceName,
  }: CheckOptions,
): Promise<number> {
  const files = await namedFiles(paths, isOurs);
  if (files.length === 0)
    throw new FileError(
      `there are no edge files, policies or scenario files in ${placesOf(paths)}; \`edgeproof init\` writes some`,
    );
  const setting = { ...(as && { attachedTo: as }), ...(plan && { plan }), strict, serviceName };
  const all: Diagnostic[] = [];
  const options = {
    serviceName,
    ...(sessionBound !== undefined && { sessionBoundMs: sessionBound * 1_000 }),
  };
  for (const file of files) {
    const own = await findingsOf(file, { isForPeople: reporter === 'text', fix, setting });
    all.push(...own);
    // Without errors there is a configuration to analyse.
    if (exact && !hasErrors(own))
      all.push(...(await exactFindingsOf(file, { fix, isForPeople: reporter === 'text' }, options)));
  }
  stdout.write(await shown(all, files, reporter));
  return hasErrors(all) ? EXIT.configInvalid : EXIT.ok;
}

/** Files of folders are taken if their names and their keys are those of files that can be checked. */
function isOurs(path: string): boolean {
  return isDocumentName(path) && isOfKnownKind(readBytes(path).toString('utf8'));
}

/** More are seldom read, and take long to print. Forms for other tools have all. */
const SHOWN_PER_FILE = 100;

/**
 * Editors and hooks run the checker on every save, so the printing code is loaded only if there are findings.
 */
async function shown(
  all: readonly Diagnostic[],
  files: readonly string[],
  reporter: CheckReporter,
): Promise<string> {
  if (reporter !== 'text') {
    const { reported } = await import('./check_reports.ts');
    return reported(reporter, all, files);
  }
  if (all.length === 0) return `${files.join(', ')}: no problems found\n`;
  const { renderDiagnostics } = await import('../diagnostics/render.ts');
  return renderDiagnostics(all, { color: wantsColor(stdout), perFile: SHOWN_PER_FILE });
}

async function findingsOf(
  file: string,
  {
    isForPeople,
    fix,
    setting,
  }: { readonly isForPeople: boolean; readonly fix: boolean; readonly setting: Surrounding },
): Promise<readonly Diagnostic[]> {
  if (isScript(file)) return (await loadConfig(file, { serviceName: setting.serviceName })).diagnostics;
  const source = await readChecked(file);
  if ('code' in source) return [source];
  const checker = await checkerFor(source.text, { ...setting, name: file });
  if (isForPeople) await printCertainty(source.text);
  if (!fix) return checker(source);
  const { fixSource } = await import('../policy/document/fixes.ts');
  const { text, applied } = fixSource(source, (each) => [...checker(each)]);
  if (applied.length > 0) {
    writeText(file, text);
    streamOf(isForPeople).write(`${file}: ${counted(applied.length, 'fix', 'fixes')} applied\n`);
  }
  return checker({ name: file, text });
}

/** What no request can reach, what has no effect, and ways around gates. */
async function exactFindingsOf(
  file: string,
  { fix, isForPeople }: { readonly fix: boolean; readonly isForPeople: boolean },
  options: { readonly sessionBoundMs?: number; readonly serviceName?: string | undefined },
): Promise<readonly Diagnostic[]> {
  const { exactFindings, fixExactly } = await import('../project_files/exact_findings.ts');
  if (fix && !isScript(file)) {
    const { text, applied } = await fixExactly({ name: file, text: readText(file) }, options);
    if (applied.length > 0) {
      writeText(file, text);
      streamOf(isForPeople).write(`${file}: ${applied.length} removed, proved to change nothing\n`);
    }
  }
  return exactFindings(file, options);
}

/** The output that other tools read has nothing else in it. */
function streamOf(isForPeople: boolean): Output {
  return isForPeople ? stdout : stderr;
}

const PROVIDER = /\bprovider["']?\s*:\s*["']?([a-z0-9_]+)/gi;

/**
 * Names the webhook providers in the file of which it is not certain that they sign as specified here. This is not a finding.
 */
async function printCertainty(text: string): Promise<void> {
  const { webhookVerification } = await import('../webhooks/facts.ts');
  const { module, action } = webhookVerification;
  if (![module, action].some(({ type }) => text.includes(type))) return;
  const { findProvider } = await import('../webhooks/table.ts');
  const names = new Set([...text.matchAll(PROVIDER)].map(([, name]) => name!.toLowerCase()));
  for (const name of names) {
    const provider = findProvider(name);
    if (provider === undefined || provider.certainty === 'high') continue;
    const known = `how it signs is known with ${provider.certainty} certainty`;
    stderr.write(`webhook provider ${name}: ${known}; try it with a real webhook before you rely on it\n`);
  }
}
