import { type Diagnostic, hasErrors, pointerTo } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { CheckedScenario } from '../simulator/document/check.ts';
import { besideName, nameNear } from './files_beside.ts';
import { FileError } from './load_config.ts';
import type { LoadedEdge } from './policy_edge.ts';

/** The configurations that changes and steps of a scenario write. */
export interface ConfiguredEdges {
  /** By the path that the file gives; without those that cannot be used. */
  readonly configured: ReadonlyMap<string, EdgeConfig>;
  readonly findings: readonly Diagnostic[];
  readonly files: readonly string[];
}

/** Reads the configurations that changes and steps name, each once. */
export async function configuredEdges(
  checked: CheckedScenario,
  edgeAt: (path: string) => Promise<LoadedEdge>,
): Promise<ConfiguredEdges> {
  const configured = new Map<string, EdgeConfig>();
  const found: Diagnostic[] = [];
  const files: string[] = [];
  const seen = new Set<string>();
  for (const { edge, pointer } of namedIn(checked)) {
    if (seen.has(edge)) continue;
    seen.add(edge);
    const path = besideName(checked.name, edge);
    try {
      const { config, diagnostics, files: read } = await edgeAt(path);
      files.push(path, ...read);
      found.push(...diagnostics.filter(({ severity }) => severity === 'error'));
      if (config !== null && !hasErrors(diagnostics)) configured.set(edge, config);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const hint = nameNear(path);
      checked.report(found)('scenario.unreadable', `${pointer}/configure/edge`, error.message, { hint });
    }
  }
  return { configured, findings: found, files };
}

function namedIn({ scenario }: CheckedScenario): { readonly edge: string; readonly pointer: string }[] {
  const places: (readonly [{ readonly configure?: { readonly edge: string } | undefined }, string])[] = [];
  for (const [index, change] of (scenario?.shell.simulation?.changes ?? []).entries())
    places.push([change, pointerTo('/simulation/changes', index)]);
  for (const { config, pointer } of scenario?.cases ?? []) {
    for (const [index, step] of (config.timeline ?? []).entries())
      places.push([step, pointerTo(`${pointer}/timeline`, index)]);
  }
  return places.flatMap(([{ configure }, pointer]) =>
    configure === undefined ? [] : [{ edge: configure.edge, pointer }],
  );
}
