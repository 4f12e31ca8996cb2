import type { SemanticTokens, SemanticTokensDelta, SemanticTokensLegend } from 'vscode-languageserver/node';
import { DerivedOfItems, contextOf } from '../../editing/collected.ts';
import { type Place, ROOT_PLACE, itemPlace, childrenOf } from '../../editing/edited_text.ts';
import { expressionsIn } from '../../editing/expressions.ts';
import { TOKEN_KINDS, tokensOf } from '../../editing/expression_tokens.ts';
import type { YamlNode, YamlScalar } from '../../editing/yaml_tree.ts';
import type { Span } from '../../diagnostics/diagnostic.ts';
import type { TextFacts } from '../open_file.ts';

export const LEGEND: SemanticTokensLegend = { tokenTypes: [...TOKEN_KINDS], tokenModifiers: [] };

/** Tokens as the protocol has them: five numbers each, with places relative to the token before, and the first in its text. */
interface Tokens {
  readonly data: number[];
  /** Where the last token begins, and the offset of its end. */
  line: number;
  character: number;
  end: number;
}

/** Those of an element are relative to the beginning of its first line. */
const ofItems = new DerivedOfItems<Tokens>();

/** The words of the expressions in a part of a document: editors know its YAML themselves. */
export function semanticTokensIn(facts: TextFacts, part: Span): SemanticTokens {
  const tokens = beginningAt(0);
  enter(facts, facts.edited.tree, ROOT_PLACE, { part, tokens });
  return { data: tokens.data };
}

function beginningAt(line: number): Tokens {
  return { data: [], line, character: 0, end: -1 };
}

interface Into {
  readonly part: Span;
  readonly tokens: Tokens;
}

function enter(facts: TextFacts, node: YamlNode | null, place: Place, into: Into): void {
  const { edited } = facts;
  if (node === null || node.end < into.part.start || node.start > into.part.end) return;
  if (node.kind === 'scalar') addScalar(facts, place, node, into.tokens);
  if (node.kind === 'list') enterItems(facts, node, place, into);
  else for (const [inner, child] of childrenOf(edited, node, place)) enter(facts, child, inner, into);
}

function enterItems(
  facts: TextFacts,
  { items, placed = [] }: YamlNode & { readonly kind: 'list' },
  place: Place,
  into: Into,
): void {
  const { edited, document } = facts;
  const { part, tokens } = into;
  const context = contextOf(edited, place);
  for (const [index, item] of items.entries()) {
    if (item === null || item.end < part.start || item.start > part.end) continue;
    const known = placed[index] ?? null;
    const isWhole = part.start <= item.start && item.end <= part.end;
    if (known === null || !isWhole) {
      enter(facts, item, itemPlace(edited, item, place), into);
      continue;
    }
    const { line } = document.positionAt(item.start);
    const { derived, by } = ofItems.of(known, context, () => {
      const own = beginningAt(line);
      enter(facts, item, itemPlace(edited, item, place), { part, tokens: own });
      return { ...own, line: own.line - line };
    });
    append(tokens, derived, line);
    tokens.end = Math.max(tokens.end, derived.end + by);
  }
}

/** Adds the tokens of an element that begins on a line. */
function append(tokens: Tokens, own: Tokens, line: number): void {
  const [lines, character] = own.data;
  if (lines === undefined) return;
  const down = line + lines - tokens.line;
  tokens.data.push(down, down === 0 ? character! - tokens.character : character!);
  for (let at = 2; at < own.data.length; at++) tokens.data.push(own.data[at]!);
  tokens.line = line + own.line;
  tokens.character = own.character;
}

function addScalar(facts: TextFacts, place: Place, scalar: YamlScalar, tokens: Tokens): void {
  const { edited, document } = facts;
  for (const { source, inFile } of expressionsIn(edited, place, scalar))
    for (const { kind, start, end } of tokensOf(source)) {
      const span = inFile({ start, end });
      const { line, character } = document.positionAt(span.start);
      const isOneLine = document.positionAt(span.end).line === line;
      // Parts of an escaped text may share a place: tokens do not overlap, and have one line.
      if (!isOneLine || span.start < tokens.end || span.end <= span.start) continue;
      const down = line - tokens.line;
      const right = down === 0 ? character - tokens.character : character;
      tokens.data.push(down, right, span.end - span.start, TOKEN_KINDS.indexOf(kind), 0);
      [tokens.line, tokens.character, tokens.end] = [line, character, span.end];
    }
}

/** The last answer about each open text: an editor that has it gets only what has changed. */
export class KnownTokens {
  readonly #last = new Map<string, Required<SemanticTokens>>();
  #next = 1;

  all(facts: TextFacts): Required<SemanticTokens> {
    const { data } = semanticTokensIn(facts, { start: 0, end: facts.edited.text.length });
    const answer = { resultId: `${this.#next++}`, data };
    this.#last.set(facts.document.uri, answer);
    return answer;
  }

  /** All tokens, if the editor has others than those of the last answer. */
  since(facts: TextFacts, resultId: string): SemanticTokens | SemanticTokensDelta {
    const before = this.#last.get(facts.document.uri);
    const after = this.all(facts);
    if (before?.resultId !== resultId) return after;
    return { resultId: after.resultId, edits: changes(before.data, after.data) };
  }

  closed(uri: string): void {
    this.#last.delete(uri);
  }
}

function changes(before: readonly number[], after: readonly number[]): SemanticTokensDelta['edits'] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let [end, newEnd] = [before.length, after.length];
  for (; end > start && newEnd > start && before[end - 1] === after[newEnd - 1]; newEnd--) end--;
  if (end === start && newEnd === start) return [];
  return [{ start, deleteCount: end - start, data: after.slice(start, newEnd) }];
}
