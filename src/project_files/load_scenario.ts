import { extname } from 'node:path';
import { type Diagnostic, type Span, hasErrors } from '../diagnostics/diagnostic.ts';
import { readDocument } from '../config_file/read.ts';
import type { Checked } from '../edge/document/check.ts';
import { POLICY_FILE } from '../policy/document/read.ts';
import { type CheckedScenario, checkScenario } from '../simulator/document/check.ts';
import type { EdgeSource } from '../coverage/places.ts';
import { type EdgeFixture, edgeFixture } from '../coverage/edge_fixture.ts';
import { FileError, SCRIPTS, checkConfigValue, importDefault, loadConfig, readText } from './load_config.ts';
import { FILES_BESIDE, besideName, nameNear } from './files_beside.ts';

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
  /** Name of the edge, the same for all its scenarios: its path as the user would write it. */
  readonly edgeName: string;
}

/** Reads scenario files; an edge that several of them test is read and compiled once. */
export function scenarioLoader(): (path: string) => Promise<LoadedScenario> {
  const edges = new Map<string, Promise<Checked>>();
  const compiled = new Map<Checked, EdgeFixture>();
  const edgeAt = (path: string): Promise<Checked> => {
    let checked = edges.get(path);
    if (checked === undefined) {
      edges.set(path, (checked = loadConfig(path)));
      checked.catch(() => edges.delete(path));
    }
    return checked;
  };
  return async (path) => {
    const checked = SCRIPTS.has(extname(path))
      ? checkScenario({ value: await importDefault(path), name: path }, FILES_BESIDE)
      : checkScenario({ name: path, text: readText(path) }, FILES_BESIDE);
    const shell = checked.scenario?.shell;
    const unread = { source: null, edgeName: path };
    if (shell === undefined)
      return { checked, edge: null, findings: [], files: [path, ...checked.files], ...unread };
    const { edge, policy } = shell;
    const named = typeof edge === 'string' ? edge : typeof policy === 'string' ? policy : null;
    const beside = named === null ? null : besideName(path, named);
    const files = [path, ...checked.files, ...(beside === null ? [] : [beside])];
    let config: Checked;
    let findings: readonly Diagnostic[];
    try {
      if (edge !== undefined && beside !== null) ({ diagnostics: findings } = config = await edgeAt(beside));
      else {
        const { value, written } = await valueOf(checked, edge, policy, beside);
        config = edge === undefined ? await policyEdge(value) : await checkConfigValue(value, path);
        findings = relocated(config.diagnostics, written);
      }
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const key = edge === undefined ? 'policy' : 'edge';
      return {
        checked,
        edge: null,
        findings: unreadable(checked, key, beside ?? path, error.message),
        files,
        ...unread,
      };
    }
    files.push(...config.files);
    if (config.config === null || hasErrors(findings))
      return { checked, edge: null, findings, files, ...unread };
    let ready = compiled.get(config);
    if (shell.secrets !== undefined) {
      // Secrets belong to the scenario file, so its edge cannot be shared.
      ready = edgeFixture(config.config, config.locate, 'decided', null, shell.secrets);
    } else if (ready === undefined) compiled.set(config, (ready = edgeFixture(config.config, config.locate)));
    const source = sourceOf(checked, config, edge === undefined ? 'policy' : 'edge', beside);
    const edgeName = beside ?? path;
    return { checked, edge: ready, findings: findings.filter(isReported), files, source, edgeName };
  };
}

/** The source of an edge or a policy: its own file, or the scenario. */
function sourceOf(
  checked: CheckedScenario,
  { document }: Checked,
  of: 'edge' | 'policy',
  beside: string | null,
): EdgeSource | null {
  if (beside === null) return { of: 'scenario', file: checked.name, at: `/${of}`, lineOf: checked.lineOf };
  if (SCRIPTS.has(extname(beside))) return null;
  const source = { name: beside, text: readText(beside) };
  return of === 'edge' ? { of, source, document } : { of, source };
}

/** Warnings about the edge are for `check`; here only errors are reported. */
function isReported({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

const NO_PLACES = { spanOf: () => undefined, keySpanOf: () => undefined };

/** An edge or a policy in a scenario, or a policy in its own file, and its source. */
async function valueOf(
  { document, name }: CheckedScenario,
  edge: unknown,
  policy: unknown,
  beside: string | null,
): Promise<{ readonly value: unknown; readonly written: WrittenAt }> {
  if (beside === null) {
    const { source, spanOf, keySpanOf } = document;
    const text = source === undefined || SCRIPTS.has(extname(name)) ? null : source.text;
    const at = edge === undefined ? '/policy' : '/edge';
    return { value: edge ?? policy, written: { name, text, spanOf, keySpanOf, at } };
  }
  if (SCRIPTS.has(extname(beside))) {
    const value = await importDefault(beside);
    return { value, written: { name: beside, text: null, ...NO_PLACES, at: '' } };
  }
  const text = readText(beside);
  const { document: read } = readDocument({ name: beside, text }, POLICY_FILE);
  const written = { name: beside, text, ...NO_PLACES, ...read, at: '' };
  return { value: read?.value ?? null, written };
}

/** A policy on a route with the backend `app`. */
function policyEdge(policy: unknown): Promise<Checked> {
  return checkConfigValue({
    backends: { app: { static: { address: 'localhost:3000' } } },
    edges: {
      https: {
        policy: {
          hostports: ['edge.test:443', '*.test:443'],
          routes: [
            {
              match_type: 'path_prefix',
              match: '/',
              backend: { backend_id: 'app' },
              traffic_policy: { value: JSON.stringify(policy) },
            },
          ],
        },
      },
    },
  });
}

/** The text from which an edge or a policy was read that is checked as data. */
interface WrittenAt {
  readonly name: string;
  /** Null if a program produced it. */
  readonly text: string | null;
  readonly spanOf: (pointer: string) => Span | undefined;
  readonly keySpanOf: (pointer: string) => Span | undefined;
  /** Pointer to the edge or the policy in that text. */
  readonly at: string;
}

/** Codes of findings about a key, not about its value. */
const UNKNOWN_KEY = /unknown_key|_2236$/;
const INSIDE_POLICY = /^\/edges\/https\/policy\/routes\/0\/traffic_policy\/value/;

/** Moves findings about an edge that was generated for a scenario to their places in the user's file. */
function relocated(
  findings: readonly Diagnostic[],
  { name, text, spanOf, keySpanOf, at }: WrittenAt,
): readonly Diagnostic[] {
  return findings.map(({ source: _made, span: _there, fix: _none, ...finding }) => {
    const pointer = at + finding.pointer.replace(INSIDE_POLICY, '');
    const key = UNKNOWN_KEY.test(finding.code) ? keySpanOf(pointer) : undefined;
    const span = text === null ? undefined : (key ?? spanNear(pointer, spanOf));
    return { ...finding, pointer, source: { name, text: text ?? '' }, ...(span && { span }) };
  });
}

/** When a key is missing, its parent is used as the place. */
function spanNear(pointer: string, spanOf: WrittenAt['spanOf']): Span | undefined {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const span = spanOf(at);
    if (span !== undefined || at === '') return span;
  }
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
