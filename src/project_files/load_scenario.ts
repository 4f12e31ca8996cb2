import { extname } from 'node:path';
import { nearestSpan } from '../config_file/report.ts';
import type { ScenarioShell } from '../simulator/document/schema.ts';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { configuredEdges } from './configured_edges.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Checked } from '../edge/document/check.ts';
import { type CheckedScenario, checkScenario } from '../simulator/document/check.ts';
import type { EdgeSource } from '../coverage/places.ts';
import { type EdgeFixture, edgeFixture } from '../coverage/edge_fixture.ts';
import { type LocatedDocument, plainDocument } from '../config_file/document.ts';
import {
  FileError,
  type LoadOptions,
  SCRIPTS,
  checkConfigValue,
  importDefault,
  readText,
} from './load_config.ts';
import {
  type LoadedEdge,
  type WrittenPolicy,
  checkPolicyEdge,
  loadEdgeOrPolicy,
  policyFile,
} from './policy_edge.ts';
import { isOfKnownKind, kindOfFile, reportKind } from './file_kind.ts';
import { besideName, nameNear } from './files_beside.ts';
import { type Sources, besideOf } from './sources.ts';

/** A scenario file with the edge that it tests; null when the edge cannot be used. */
export interface LoadedScenario {
  readonly checked: CheckedScenario;
  readonly edge: EdgeFixture | null;
  /** Findings about the edge. */
  readonly findings: readonly Diagnostic[];
  /** Files that it depends on. */
  readonly files: readonly string[];
  /** The source of the edge; null if a program produced it. */
  readonly source: EdgeSource | null;
  /** Configurations that steps and changes write, by the path that the file gives. */
  readonly configured: ReadonlyMap<string, EdgeConfig>;
  /** Name of the edge, the same for all its scenarios: its path as the user would write it. */
  readonly edgeName: string;
}

/** Reads scenario files; an edge that several of them test is read and compiled once. */
export function scenarioLoader(options: LoadOptions = {}): (path: string) => Promise<LoadedScenario> {
  const { sources } = options;
  const edges = new Map<string, Promise<LoadedEdge>>();
  const compiled = new Map<Checked, EdgeFixture>();
  const edgeAt = (path: string): Promise<LoadedEdge> => {
    let checked = edges.get(path);
    if (checked === undefined) {
      edges.set(path, (checked = loadEdgeOrPolicy(path, options)));
      checked.catch(() => edges.delete(path));
    }
    return checked;
  };
  const edgeOf = async (checked: CheckedScenario, shell: ScenarioShell): Promise<LoadedEdge> => {
    const { edge, policy } = shell;
    const { name, document } = checked;
    if (typeof edge === 'string') return edgeAt(besideName(name, edge));
    if (edge === undefined) {
      const written = await policyIn(checked, policy, options.sources);
      const loaded = await checkPolicyEdge(written, {}, options);
      const diagnostics =
        typeof policy === 'string' ? loaded.diagnostics : below('/policy', loaded.diagnostics);
      return { ...loaded, diagnostics, isPolicy: true };
    }
    const loaded = await checkConfigValue(edge, name, options);
    return { ...loaded, diagnostics: relocated(loaded.diagnostics, document, name), isPolicy: false };
  };
  const fixtureOf = (of: LoadedEdge, config: EdgeConfig, { secrets }: ScenarioShell): EdgeFixture => {
    // Secrets belong to the scenario file, so its edge cannot be shared.
    if (secrets !== undefined) return edgeFixture(config, of.locate, 'decided', null, secrets);
    let ready = compiled.get(of);
    if (ready === undefined) compiled.set(of, (ready = edgeFixture(config, of.locate)));
    return ready;
  };
  return async (path) => {
    const checked = SCRIPTS.has(extname(path))
      ? checkScenario({ value: await importDefault(path, sources), name: path }, besideOf(sources))
      : await checkedText(path, readText(path, sources), sources);
    const shell = checked.scenario?.shell;
    const unread = { source: null, edgeName: path, configured: new Map<string, EdgeConfig>() };
    if (shell === undefined)
      return { checked, edge: null, findings: [], files: [path, ...checked.files], ...unread };
    const { edge, policy } = shell;
    const named = typeof edge === 'string' ? edge : typeof policy === 'string' ? policy : null;
    const beside = named === null ? null : besideName(path, named);
    const files = [path, ...checked.files, ...(beside === null ? [] : [beside])];
    let config: LoadedEdge;
    try {
      config = await edgeOf(checked, shell);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const key = edge === undefined ? 'policy' : 'edge';
      const findings = unreadable(checked, key, beside ?? path, error.message);
      return { checked, edge: null, findings, files, ...unread };
    }
    const findings = config.diagnostics;
    files.push(...config.files);
    if (config.config === null || hasErrors(findings))
      return { checked, edge: null, findings, files, ...unread };
    const ready = fixtureOf(config, config.config, shell);
    const { configured, ...written } = await configuredEdges(checked, edgeAt);
    files.push(...written.files);
    if (hasErrors(written.findings))
      return { checked, edge: null, findings: written.findings, files, ...unread };
    const source = sourceOf(checked, config, edge === undefined ? 'policy' : 'edge', { beside, sources });
    const edgeName = beside ?? path;
    const shown = findings.filter(isReported);
    return { checked, edge: ready, findings: shown, files, source, configured, edgeName };
  };
}

/** The source of an edge or a policy: its own file, or the scenario. */
function sourceOf(
  checked: CheckedScenario,
  { document, isPolicy }: LoadedEdge,
  key: 'edge' | 'policy',
  { beside, sources }: { readonly beside: string | null; readonly sources: Sources | undefined },
): EdgeSource | null {
  if (beside === null) return { of: 'scenario', file: checked.name, at: `/${key}`, lineOf: checked.lineOf };
  if (SCRIPTS.has(extname(beside))) return null;
  const source = { name: beside, text: readText(beside, sources) };
  return isPolicy ? { of: 'policy', source } : { of: 'edge', source, document };
}

/** Warnings about the edge are for `check`; here only errors are reported. */
function isReported({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

/** The policy of a scenario: in the scenario itself, or in a file beside it. */
async function policyIn(
  { document, name }: CheckedScenario,
  policy: unknown,
  sources: Sources | undefined,
): Promise<WrittenPolicy> {
  if (typeof policy !== 'string')
    return { text: JSON.stringify(policy), written: { document, pointer: '/policy' }, name };
  const beside = besideName(name, policy);
  if (!SCRIPTS.has(extname(beside))) {
    const text = readText(beside, sources);
    if (isOfKnownKind(text) && (await kindOfFile(text)) === 'edge')
      throw new FileError(`${beside} is an edge file, not a policy; name it with \`edge\``);
    return policyFile(beside, text);
  }
  const value = await importDefault(beside, sources);
  return {
    text: JSON.stringify(value),
    written: { document: plainDocument(value), pointer: '' },
    name: beside,
  };
}

function below(pointer: string, findings: readonly Diagnostic[]): readonly Diagnostic[] {
  return findings.map((finding) => ({ ...finding, pointer: pointer + finding.pointer }));
}

/** Codes of findings about a key, not about its value. */
const UNKNOWN_KEY = /unknown_key|_2236$/;

/** Moves findings about an edge that is written in a scenario to their places there. */
function relocated(
  findings: readonly Diagnostic[],
  document: LocatedDocument,
  name: string,
): readonly Diagnostic[] {
  const text = document.source?.text ?? '';
  return findings.map(({ source: _made, span: _there, fix: _none, ...finding }) => {
    const pointer = `/edge${finding.pointer}`;
    const key = UNKNOWN_KEY.test(finding.code) ? document.keySpanOf(pointer) : undefined;
    const span = document.source === undefined ? undefined : (key ?? nearestSpan(document, pointer, 'value'));
    return { ...finding, pointer, source: { name, text }, ...(span && { span }) };
  });
}

/** Reports an edge or policy file that cannot be read, at the place that names it. */
function unreadable(
  checked: CheckedScenario,
  key: 'edge' | 'policy',
  path: string,
  message: string,
): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  checked.report(found)('scenario.unreadable', `/${key}`, message, { hint: nameNear(path) });
  return found;
}

/** Findings say so when the text is of another kind of file. */
async function checkedText(
  name: string,
  text: string,
  sources: Sources | undefined,
): Promise<CheckedScenario> {
  const checked = checkScenario({ name, text }, besideOf(sources));
  return { ...checked, diagnostics: await reportKind(checked.diagnostics, text, 'scenario') };
}
