import type { Source, Span } from '../../diagnostics/diagnostic.ts';
import { type TextMap, composed, scalarMap } from './text_map.ts';

/** The text of a policy as read, and its place in the file that carries it. */
export interface PolicyText {
  /** The policy's own text: the whole file, or a string inside a file. Empty for a policy given as an object. */
  readonly text: string;
  readonly value: unknown;
  /** The span of `text` with the value at a JSON pointer, quotes included. */
  readonly spanOf: (pointer: string) => Span | undefined;
  /** The span of `text` with the key at a JSON pointer. */
  readonly keySpanOf: (pointer: string) => Span | undefined;
  /** Offsets in `text` of each `!` that YAML parses as a tag. */
  readonly bangs: ReadonlySet<number>;
  /** The file; undefined for a policy given as an object. */
  readonly file: Source | undefined;
  /** From `text` to the file. */
  readonly toFile: TextMap;
  /** Pointer of the policy in the file: empty, or that of the string that carries it. */
  readonly at: string;
  /** Cached maps of strings, by pointer: a string with many findings is mapped once. */
  readonly maps: Map<string, TextMap>;
}

/** The text of the policy without what else its file contains, and where it begins in `policy.text`. */
export function ownText({ text, spanOf }: PolicyText): { readonly text: string; readonly start: number } {
  const { start, end } = spanOf('') ?? { start: 0, end: text.length };
  return { text: text.slice(start, end), start };
}

/** Replaces a `!` that YAML would parse as a tag: of the same length, and an ordinary letter in YAML. */
export const BANG = '\u01c3';

/** The map from the string at a pointer to the policy's text; undefined if there is none. */
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

/** The map from the string at a pointer to the file. */
export function mapInFile(policy: PolicyText, pointer: string, decoded: string): TextMap | undefined {
  const inner = mapIn(policy, pointer, decoded);
  return inner === undefined ? undefined : composed(inner, policy.toFile);
}
