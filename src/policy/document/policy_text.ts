import type { Source, Span } from '../../diagnostics/diagnostic.ts';
import { composed, scalarMap } from './text_map.ts';
import type { TextMap } from './text_map.ts';

/** The text of a policy as it was read, and where it stands in the file that carries it. */
export interface PolicyText {
  /** The policy's own text: the whole file, or a string inside a file. Empty for a policy given as an object. */
  readonly text: string;
  readonly value: unknown;
  /** The stretch of `text` that holds the value at a JSON pointer, quotes included. */
  readonly spanOf: (pointer: string) => Span | undefined;
  /** The stretch of `text` that holds the key at a JSON pointer. */
  readonly keySpanOf: (pointer: string) => Span | undefined;
  /** Offsets in `text` of each `!` that YAML takes for a tag. */
  readonly bangs: ReadonlySet<number>;
  /** The file; undefined for a policy given as an object. */
  readonly file: Source | undefined;
  /** From `text` to the file. */
  readonly toFile: TextMap;
  /** Pointer of the policy in the file: empty, or that of the string that carries it. */
  readonly at: string;
  /** Maps of texts made so far, by pointer: a text with many findings is read once. */
  readonly maps: Map<string, TextMap>;
}

/** What stands in for the `!` that YAML would take for a tag: of the same length, and an ordinary letter to YAML. */
export const BANG = '\u01c3';

/** The map of the text at a pointer to the policy's text; undefined when nothing stands there. */
export function mapIn(policy: PolicyText, pointer: string, decoded: string): TextMap | undefined {
  let map = policy.maps.get(pointer);
  if (map === undefined) {
    const span = policy.spanOf(pointer);
    if (span === undefined) return undefined;
    map = scalarMap(policy.text, span, decoded);
    policy.maps.set(pointer, map);
  }
  return map;
}

/** The map of the text at a pointer to the file. */
export function mapInFile(policy: PolicyText, pointer: string, decoded: string): TextMap | undefined {
  const inner = mapIn(policy, pointer, decoded);
  return inner === undefined ? undefined : composed(inner, policy.toFile);
}
