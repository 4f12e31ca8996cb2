import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { suggest } from '../diagnostics/suggest.ts';
import { EDGE_FILE } from '../edge/document/edge_file.ts';
import { EDGE_SHAPE } from '../edge/document/edge_shape.ts';
import { readDocument } from '../config_file/read.ts';

/** The kinds of files that people write. */
export type KindOfFile = 'edge' | 'policy' | 'scenario';

/** What stands at the left edge of a traffic policy, and never at that of an edge file. */
const POLICY_KEY =
  /^\s*\{?\s*["']?(?:on_tcp_connect|on_http_request|on_http_response|on_event_stream_message|inbound|outbound)["']?\s*:/m;
const EDGE_KEY = /^["']?(?:edges|backends)["']?\s*:/m;
/** The same in JSON, where keys stand anywhere. */
const EDGE_MEMBER = /"edges"\s*:/;
/** What stands at the left edge of a scenario file only. */
const SCENARIO_KEY = /^["']?(?:cases|simulation)["']?\s*:/m;

/** Which kind of file a text is, by the keys at its top; where none is known, the kind that it comes nearest to. */
export async function kindOfFile(text: string): Promise<KindOfFile> {
  if (SCENARIO_KEY.test(text)) return 'scenario';
  if (EDGE_KEY.test(text)) return 'edge';
  if (POLICY_KEY.test(text)) return 'policy';
  return EDGE_MEMBER.test(text) ? 'edge' : nearestKind(text);
}

/** Loaded with what it compares with only where the keys are misspelt. */
async function nearestKind(text: string): Promise<KindOfFile> {
  const { document } = readDocument({ name: '', text }, EDGE_FILE);
  const entries = Object.entries((document?.value ?? {}) as Readonly<Record<string, unknown>>);
  const { LEGACY_PHASES, PHASES } = await import('../filters/phase.ts');
  const { SHELL_SHAPE } = await import('../simulator/document/scenario_shape.ts');
  const keys: Readonly<Record<KindOfFile, readonly string[]>> = {
    edge: Object.keys(EDGE_SHAPE.properties ?? {}),
    policy: [...PHASES, ...Object.keys(LEGACY_PHASES)],
    scenario: ['cases', ...Object.keys(SHELL_SHAPE.properties ?? {})],
  };
  const likeness = (kind: KindOfFile): number =>
    entries.reduce((sum, [key, value]) => {
      const near = keys[kind].includes(key) ? 2 : suggest(key, keys[kind]) === undefined ? 0 : 1;
      return sum + near + (kind === 'policy' && isRules(value) ? 2 : 0);
    }, 0);
  const kinds = ['edge', 'policy', 'scenario'] as const;
  return kinds.reduce((best, kind) => (likeness(kind) > likeness(best) ? kind : best));
}

/** Rules are told by their actions, whatever the phase is called. */
function isRules(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((rule) => typeof rule === 'object' && rule !== null && 'actions' in rule)
  );
}

const SEEMS: Readonly<Record<KindOfFile, string>> = {
  edge: 'this seems to be an edge file: `edgeproof dev` runs it',
  policy: 'this seems to be a traffic policy: `edgeproof http 3000 -p FILE` runs it before port 3000',
  scenario: 'this seems to be a scenario file: `edgeproof test` runs it',
};

/** Findings about a file that was read as one kind of file, with the word that it seems to be another one. */
export async function reportKind(
  found: readonly Diagnostic[],
  text: string,
  readAs: KindOfFile,
): Promise<readonly Diagnostic[]> {
  const [first, ...others] = found;
  if (first?.severity !== 'error') return found;
  const kind = await kindOfFile(text);
  if (kind === readAs) return found;
  return [{ ...first, notes: [...(first.notes ?? []), SEEMS[kind]] }, ...others];
}
