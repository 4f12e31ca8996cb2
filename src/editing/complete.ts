import { complete as completeExpression } from '../cel/expression_completion.ts';
import type { Scope } from '../cel/scope.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import { type Candidate, keysAt, named, valuesAt } from './schema_candidates.ts';
import { docOfName } from './expression_docs.ts';
import { type EditedText, type Place, editedText, placeAt, schemasOf } from './edited_text.ts';
import { expressionBefore, scopePlaceOf } from './expressions.ts';
import { cursorIn } from './cursor_place.ts';
import { type SeenKind, seenAt } from './keys_seen.ts';
import { type NameKind, namesIn } from './names.ts';

export interface Completions {
  /** What is replaced, offsets in the text. */
  readonly start: number;
  readonly end: number;
  readonly candidates: readonly Candidate[];
}

/** What can be named at a cursor. */
export interface KnownNames {
  readonly namesOf: (kind: NameKind) => readonly string[];
  /** Names of headers and others in the files and the traffic that belong to the text. */
  readonly seen?: (kind: SeenKind) => readonly string[];
  /** The name of the service in `actions.<service>`. */
  readonly service?: string | undefined;
}

export interface CompletionSetting {
  /** The text of the edge file as it is now, whose names a policy in its own file may use. */
  readonly edgeText: () => string;
  /** What expressions of the list's filter may read. */
  readonly filterScope: Scope<never>;
}

/** The file that a cursor is in; with the name null, `text` is an expression. */
interface CompletionRequest {
  readonly name: string | null;
  readonly text: string;
  readonly offset: number;
}

/** As `completionsIn`, for a page with one edge file. */
export function completions(
  { name, text, offset }: CompletionRequest,
  { edgeText, filterScope }: CompletionSetting,
): Completions {
  if (name === null) return ofExpression(text, { before: text.slice(0, offset), offset }, filterScope);
  const edited = editedText(text, name);
  const names = namesIn(edited.root === 'edge' ? edited : editedText(edgeText(), ''));
  const namesOf = (kind: NameKind): readonly string[] =>
    names.filter((each) => each.kind === kind && each.isDeclaration).map((each) => each.name);
  return completionsIn(edited, offset, { namesOf });
}

/** Candidates for the word before the cursor: keys, values, names of backends and others, variables and functions. */
export function completionsIn(edited: EditedText, offset: number, names: KnownNames): Completions {
  const found = placeAt(edited, offset);
  const inside = found?.node?.kind === 'scalar' && !found.isOnKey ? found : null;
  const expression =
    inside?.node?.kind === 'scalar' ? expressionBefore(edited, inside.place, inside.node, offset) : null;
  if (expression !== null) {
    const secret = secretsBefore(expression, names);
    if (secret !== null) return answer(edited.text, offset, /[\w.-]*$/.exec(expression)![0], secret);
    const seen = seenAt(expression);
    if (seen !== null) {
      const all = [...new Set(names.seen?.(seen.kind) ?? [])].sort((one, other) => (one < other ? -1 : 1));
      return answer(
        edited.text,
        offset,
        seen.word,
        all.map((text): Candidate => ({ text, kind: 'value', doc: '' })),
      );
    }
    // A text of an expression is the user's own.
    if (isInText(expression)) return { start: offset, end: offset, candidates: [] };
    const { service } = names;
    const scope = scopeFor(scopePlaceOf(edited, inside!.place), service === undefined ? {} : { service });
    return ofExpression(edited.text, { before: expression, offset }, scope);
  }
  const { cursor, type } = cursorIn(edited, offset, found);
  const place: Place = { path: cursor.path, type, maps: found?.place.maps ?? [] };
  const nodes = schemasOf(edited.root, place);
  const candidates = [
    ...(cursor.wants === 'value' ? [] : keysAt(edited, cursor, place, { nodes, ...names })),
    ...(cursor.wants === 'key' ? [] : valuesAt(edited, place, { nodes, ...names })),
  ];
  return answer(edited.text, offset, /[\w./-]*$/.exec(cursor.before)![0], candidates);
}

/** Whether quotes before the end of an expression are open. */
function isInText(before: string): boolean {
  let quote = '';
  for (let at = 0; at < before.length; at++) {
    const letter = before[at]!;
    if (quote === '') quote = letter === "'" || letter === '"' ? letter : '';
    else if (letter === '\\') at++;
    else if (letter === quote) quote = '';
  }
  return quote !== '';
}

/** The word around the cursor is replaced, so that a name can be exchanged for another one. */
function answer(text: string, offset: number, word: string, candidates: readonly Candidate[]): Completions {
  const after = text.slice(offset, offset + LONGEST_WORD);
  const end = offset + /^[\w./-]*/.exec(after)![0].length;
  const hasColon = /^[\w./-]*["']?:(?=\s|$)/.test(after);
  return {
    start: offset - word.length,
    end,
    candidates: candidates
      .filter(({ text: each }) => each.startsWith(word))
      .map((each) => (hasColon && each.kind === 'key' ? withoutColon(each) : each)),
  };
}

function withoutColon({ text, kind, doc }: Candidate): Candidate {
  return { text: text.replace(/: $/, ''), kind, doc };
}

const LONGEST_WORD = 200;

interface Before {
  /** The expression before the cursor. */
  readonly before: string;
  readonly offset: number;
}

function ofExpression<A>(text: string, { before, offset }: Before, scope: Scope<A>): Completions {
  const { candidates, word } = completeExpression(before, scope);
  const [rest, bracket] = /^\w*(\(?)/.exec(text.slice(offset, offset + LONGEST_WORD))!;
  return {
    start: offset - word.length,
    end: offset + rest.length - bracket!.length,
    candidates: candidates.map((name): Candidate => {
      const isFunction = name.endsWith('(');
      const bare = isFunction ? name.slice(0, -1) : name;
      const kind = isFunction ? 'function' : 'variable';
      const written = bracket === '' ? name : bare;
      const known = docOfName(bare, isFunction, scope);
      return known === null
        ? { text: written, kind, doc: '' }
        : { text: written, kind, doc: known.doc, detail: known.forms[0]! };
    }),
  };
}

/** Names of vaults and secrets inside `secrets.get('…', '…')`. */
function secretsBefore(before: string, { namesOf }: KnownNames): Candidate[] | null {
  const call = /secrets\.get\(\s*['"]([\w.-]*)(?:['"]\s*,\s*['"]([\w.-]*))?$/.exec(before);
  if (call === null) return null;
  const [, vault = '', name] = call;
  if (name === undefined) return named('vault', namesOf('vault'));
  const prefix = `${vault}/`;
  const own = namesOf('secret').filter((each) => each.startsWith(prefix));
  return named(
    'secret',
    own.map((each) => each.slice(prefix.length)),
  );
}
