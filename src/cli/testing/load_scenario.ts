import { dirname, extname, join, relative, resolve } from 'node:path';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { readDocument } from '../../document/read.ts';
import type { Checked } from '../../edge/document/check.ts';
import { POLICY_FILE } from '../../policy/document/read.ts';
import { type CheckedScenario, checkScenario } from '../../simulator/document/check.ts';
import type { EdgeSource } from '../../simulator/covering/places.ts';
import { type EdgeUnderTest, edgeUnderTest } from '../../simulator/under_test.ts';
import { SCRIPTS, checkConfigValue, importDefault, loadConfig, readText } from '../load_config.ts';

/** A scenario file with the edge that it tests; null when that cannot be used. */
export interface LoadedScenario {
  readonly checked: CheckedScenario;
  readonly edge: EdgeUnderTest | null;
  /** Findings about the edge. */
  readonly findings: readonly Diagnostic[];
  /** Files that it was made of: a change in one of them affects it. */
  readonly files: readonly string[];
  /** Where the text of the edge is; null for one that a program makes. */
  readonly source: EdgeSource | null;
  /** The same for all scenarios of one edge: its path as the user would write it. */
  readonly edgeName: string;
}

/** Reads scenario files; an edge that several of them test is read and compiled once. */
export function scenarioLoader(): (path: string) => Promise<LoadedScenario> {
  const edges = new Map<string, Promise<Checked>>();
  const compiled = new Map<Checked, EdgeUnderTest>();
  const edgeAt = (path: string): Promise<Checked> => {
    let checked = edges.get(path);
    if (checked === undefined) edges.set(path, (checked = loadConfig(path)));
    return checked;
  };
  return async (path) => {
    const checked = SCRIPTS.has(extname(path))
      ? checkScenario({ value: await importDefault(path), name: path })
      : checkScenario({ name: path, text: readText(path) });
    const shell = checked.scenario?.shell;
    const unread = { source: null, edgeName: path };
    if (shell === undefined) return { checked, edge: null, findings: [], files: [path], ...unread };
    const { edge, policy } = shell;
    const named = typeof edge === 'string' ? edge : typeof policy === 'string' ? policy : null;
    const beside = named === null ? null : besideOf(path, named);
    const config =
      edge === undefined
        ? beside === null
          ? await policyEdge(policy)
          : await policyEdge(await policyValue(beside))
        : beside === null
          ? await checkConfigValue(edge)
          : await edgeAt(beside);
    const files = beside === null ? [path] : [path, beside];
    const findings = config.diagnostics;
    if (config.config === null || hasErrors(findings))
      return { checked, edge: null, findings, files, ...unread };
    let ready = compiled.get(config);
    if (shell.secrets !== undefined) {
      // Secrets are a file's own, so the edge is too.
      ready = edgeUnderTest(config.config, config.locate, 'decided', null, shell.secrets);
    } else if (ready === undefined)
      compiled.set(config, (ready = edgeUnderTest(config.config, config.locate)));
    const source = sourceOf(checked, config, edge === undefined ? 'policy' : 'edge', beside);
    const edgeName = beside ?? path;
    return { checked, edge: ready, findings: findings.filter(isTold), files, source, edgeName };
  };
}

/** Where an edge or a policy is written: in a file of its own, or in the scenario. */
function sourceOf(
  checked: CheckedScenario,
  { spanOf, keySpanOf }: Checked,
  of: 'edge' | 'policy',
  beside: string | null,
): EdgeSource | null {
  if (beside === null) return { of: 'scenario', file: checked.name, at: `/${of}`, lineOf: checked.lineOf };
  if (SCRIPTS.has(extname(beside))) return null;
  const source = { name: beside, text: readText(beside) };
  return of === 'edge' ? { of, source, spanOf, keySpanOf } : { of, source };
}

/** Warnings about the edge are for `check`; here only what keeps cases from running is told. */
function isTold({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

/** A path as it is written in the file, seen from where the command runs. */
function besideOf(file: string, named: string): string {
  return relative('.', resolve(dirname(file), named)) || join(dirname(file), named);
}

async function policyValue(path: string): Promise<unknown> {
  if (SCRIPTS.has(extname(path))) return importDefault(path);
  const { document } = readDocument({ name: path, text: readText(path) }, POLICY_FILE);
  return document?.value ?? null;
}

/** A policy on a route of its own, before a backend `app`. */
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
