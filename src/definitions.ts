import { type Edge, type EdgeOptions, createEdge as createEdgeOf, edgeOf, usable } from './edgeproof.ts';
import type { Diagnostic, Source } from './diagnostics/diagnostic.ts';
import type { EdgeConfigInput } from './edge/document/schema.ts';
import type { Surrounding } from './project_files/load_config.ts';
import type { ScenarioInput } from './simulator/document/schema.ts';

/** Gives an edge in a TypeScript file its type, so that editors complete and check its keys: `export default defineEdge({…})`. */
export function defineEdge(config: EdgeConfigInput): EdgeConfigInput {
  return config;
}

/** Gives a scenario in a TypeScript file its type. */
export function defineScenario(scenario: ScenarioInput): ScenarioInput {
  return scenario;
}

/**
 * Makes an edge from a configuration object (the shape of the edge file). Throws ConfigError with all findings if it
 * has errors.
 */
export function createEdge(config: EdgeConfigInput, options: EdgeOptions = {}): Edge {
  if (typeof config === 'string')
    throw new TypeError(
      `createEdge takes an object; for a file, use \`await loadEdge(${JSON.stringify(config)})\``,
    );
  return createEdgeOf(config, options);
}

/**
 * Makes an edge from an edge file in YAML, JSON, TypeScript or JavaScript, with the files that it names. Explanations have places in
 * the file. Throws ConfigError with all findings if the file has errors, and an error with cause and cure if it cannot be read.
 */
export async function loadEdge(file: string, options: EdgeOptions = {}): Promise<Edge> {
  const { loadConfig } = await import('./project_files/load_config.ts');
  const checked = usable(await loadConfig(file));
  const { geoipDatabasesOf } = await import('./cli/geoip_databases.ts');
  const geoipDatabases = options.geoipDatabases ?? (await geoipDatabasesOf(checked.config, file));
  return edgeOf(checked, { ...options, geoipDatabases });
}

/** What to check: a text with the name that findings show, or an edge as an object. */
export type CheckInput = Source | { readonly edge: EdgeConfigInput };

/**
 * All findings about an edge file, a traffic policy or a scenario file, as `edgeproof check` reports them, in the order
 * of the text; the kind of a text is recognised by its keys. Files that it names are relative to its name.
 */
export async function check(input: CheckInput, options: Surrounding = {}): Promise<readonly Diagnostic[]> {
  const { checkConfigValue, checkerFor } = await import('./project_files/load_config.ts');
  if ('edge' in input) return (await checkConfigValue(input.edge)).diagnostics;
  return (await checkerFor(input.text, { ...options, name: input.name }))(input);
}
