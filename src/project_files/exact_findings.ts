import { type AnalysisFinding, type FindingOptions, findings } from '../analysis/findings.ts';
import { diff } from '../analysis/blame.ts';
import type { Witness } from '../analysis/witness.ts';
import { type Diagnostic, type Fix, type Source, hasErrors } from '../diagnostics/diagnostic.ts';
import { type Lines, lineSpan, linesOf } from '../diagnostics/lines.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Locate } from '../edge/explain.ts';
import { AROUND_POLICY } from '../edge/policy_places.ts';
import { isPropertyFile, kindOfFile } from './file_kind.ts';
import { type LoadOptions, isScript, loadConfig, loadConfigText, readText } from './load_config.ts';
import { checkPolicyEdge, policyFile } from './policy_edge.ts';
import type { NamedFiles } from './named_files.ts';
import { removalOf } from '../config_file/remove_element.ts';
import { withoutSilenced } from './silences.ts';

/** A configuration with the places of its parts in one file. */
interface Loaded {
  readonly config: EdgeConfig;
  readonly locate: Locate;
}

/** What is looked for, and what the configuration is read with. */
type Options = FindingOptions & Pick<LoadOptions, 'serviceName'> & { readonly files?: NamedFiles };

/** What exact analysis finds in an edge file or a policy, without what comments silence; nothing for a file with errors. */
export async function exactFindings(path: string, options: Options = {}): Promise<readonly Diagnostic[]> {
  if (isScript(path)) {
    const { config, diagnostics } = await loadConfig(path, { serviceName: options.serviceName });
    return config === null || hasErrors(diagnostics)
      ? []
      : findings(config, options).map((found) => diagnosticOf(found));
  }
  return exactFindingsIn({ name: path, text: readText(path) }, options);
}

/** As `exactFindings`, for the text of a file. */
export async function exactFindingsIn(source: Source, options: Options): Promise<readonly Diagnostic[]> {
  const loaded = await load(source, options);
  if (loaded === null) return [];
  const lines = linesOf(source.text);
  const isYaml = !/^\s*[{[]/.test(source.text);
  const all = findings(loaded.config, options).map((found): Diagnostic => {
    const start = offsetOf(loaded.locate, lines, source, found.pointer);
    const notes = found.causes.flatMap((pointer) => {
      const place = loaded.locate(pointer);
      return place === null ? [] : [`because of line ${place.line}, column ${place.column}`];
    });
    const diagnostic = diagnosticOf(found, notes);
    if (start === null) return diagnostic;
    const end = wordEnd(source.text, start);
    const removal = found.isRemovable && isYaml ? removalOf(source.text, start) : null;
    const edit = removal ?? (found.shorter === null ? null : rewritten(source.text, start, found.shorter));
    const fix: Fix | null =
      edit === null ? null : { ...edit, message: 'remove it; this changes nothing', safe: true };
    return Object.assign(diagnostic, { source, span: { start, end } }, fix === null ? {} : { fix });
  });
  return withoutSilenced(source, all);
}

/** Analysis cannot be run for scenarios and files with errors. */
async function load(source: Source, { serviceName, files }: Options): Promise<Loaded | null> {
  const options = { serviceName, ...(files && { files }) };
  const kind = await kindOfFile(source.text);
  if (kind === 'scenario' || isPropertyFile(source.text)) return null;
  const { config, diagnostics, locate } = await (kind === 'policy'
    ? checkPolicyEdge(policyFile(source.name, source.text), {}, options)
    : loadConfigText(source.name, source.text, options));
  return config === null || hasErrors(diagnostics) ? null : { config, locate };
}

function diagnosticOf(
  { code, message, basis, pointer, witness }: AnalysisFinding,
  notes: readonly string[] = [],
): Diagnostic {
  const all = witness === null ? notes : [...notes, `for example ${requestText(witness)}`];
  const { length } = AROUND_POLICY;
  const own = pointer.startsWith(`${AROUND_POLICY}/`) ? pointer.slice(length) : pointer;
  return { code, severity: 'warning', message, pointer: own, basis, ...(all.length > 0 && { notes: all }) };
}

function requestText({ method, url, headers, clientIp }: Witness): string {
  const fields = headers.map(([name, value]) => ` ${name}: ${value}`).join(',');
  return `${method} ${url}${fields} from ${clientIp}`;
}

function offsetOf(locate: Locate, lines: Lines, { name, text }: Source, pointer: string): number | null {
  const place = locate(pointer);
  if (place === null || place.file !== name) return null;
  const line = lineSpan(lines, place.line);
  // Columns count code points, offsets UTF-16 units.
  const before = Array.from(text.slice(line.start, line.end)).slice(0, place.column - 1);
  return line.start + before.join('').length;
}

function wordEnd(text: string, start: number): number {
  const quoted = /^(?:'[^'\n]*'|"[^"\n]*"|[^\s,\]}]+)/.exec(text.slice(start, start + 200));
  return start + Math.max(1, quoted?.[0].length ?? 1);
}

/** A shorter expression in the quotes of the one that it replaces; null if that is written in another way. */
function rewritten(
  text: string,
  start: number,
  { from, to }: NonNullable<AnalysisFinding['shorter']>,
): Pick<Fix, 'span' | 'text'> | null {
  for (const written of [singleQuoted, JSON.stringify, plain]) {
    const [before, after] = [written(from), written(to)];
    if (before === null || after === null || !text.startsWith(before, start)) continue;
    const end = start + before.length;
    if (written !== plain || /^(?:\r?\n|$)/.test(text.slice(end)))
      return { span: { start, end }, text: after };
  }
  return null;
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A text that YAML can have without quotes; null if that is not certain. */
function plain(text: string): string | null {
  return /^[a-z(].*[\w)]$/i.test(text) && !/: | #|\n/.test(text) ? text : null;
}

const MOST_FIXES = 200;

/**
 * Removes what is proved to change nothing, one part after the other. Each text is checked, and compared with the one
 * before: unless they are proved equivalent, the part stays.
 */
export async function fixExactly(
  source: Source,
  options: Options = {},
): Promise<{ readonly text: string; readonly applied: readonly Diagnostic[] }> {
  const applied: Diagnostic[] = [];
  const refused = new Set<string>();
  let { text } = source;
  while (applied.length < MOST_FIXES) {
    const now = { name: source.name, text };
    const found = await exactFindingsIn(now, options);
    const next = found.find(
      ({ fix, code, pointer }) => fix !== undefined && !refused.has(`${code} ${pointer}`),
    );
    if (next?.fix === undefined) break;
    const { span, text: replacement } = next.fix;
    const shorter = text.slice(0, span.start) + replacement + text.slice(span.end);
    const after = await load({ name: source.name, text: shorter }, options);
    const before = await load(now, options);
    if (before !== null && after !== null && areProvedEqual(before.config, after.config)) {
      applied.push(next);
      text = shorter;
    } else refused.add(`${next.code} ${next.pointer}`);
  }
  return { text, applied };
}

function areProvedEqual(before: EdgeConfig, after: EdgeConfig): boolean {
  const { changes, undecided } = diff({ config: before }, { config: after });
  return changes.length === 0 && undecided.length === 0;
}
