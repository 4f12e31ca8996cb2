import {
  type FoundText,
  MATCHES_KEPT,
  type Replaced,
  type Replacement,
  TOO_LONG,
  replaceMatches,
} from '../find_replace/algorithm.ts';

/** A replacement in one field of all messages of an event stream. */
export interface FieldReplacement extends Replacement {
  readonly field: 'data' | 'retry';
}

/** Edits an event stream incrementally; each call returns the messages that are complete by then. */
export interface EventStreamEditor {
  /** Edits the messages completed by this chunk; `TOO_LONG` if a message exceeds the limit. */
  readonly push: (piece: Uint8Array) => Uint8Array | typeof TOO_LONG;
  /** Edits the rest at the end of the stream: an incomplete message, which some clients process anyway. */
  readonly end: () => Uint8Array | typeof TOO_LONG;
  /** The first `MATCHES_KEPT` matched texts, and the number of all matches. */
  readonly found: readonly FoundText[];
  readonly count: () => number;
}

/** Maximum length of a message before and after editing, in UTF-16 units. */
export const MESSAGE_LIMIT_UNITS = 1_048_576;

const BLANK_LINE = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g;

/**
 * Creates an editor of event streams (WHATWG HTML §9.2.5). A message ends at a blank line; its `data` lines
 * form one text, to which the replacements are applied in order. A message without matches is passed on
 * unchanged.
 */
export function editEventStream(replacements: readonly FieldReplacement[]): EventStreamEditor {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const found: FoundText[] = [];
  let count = 0;
  let waiting = '';
  const note: Note = (index, { count: more, matches }) => {
    count += more;
    for (const matched of matches) if (found.length < MATCHES_KEPT) found.push({ index, matched });
  };
  const push = (piece: Uint8Array): Uint8Array | typeof TOO_LONG => {
    // The text searched before contains no end, but its last line end may be the first half of one.
    const from = Math.max(0, waiting.length - 3);
    waiting += decoder.decode(piece, { stream: true });
    let out = '';
    for (let end = endOfMessage(waiting, from); end >= 0; end = endOfMessage(waiting, 0)) {
      const edited = editMessage(waiting.slice(0, end), replacements, note);
      if (edited === null) return TOO_LONG;
      out += edited;
      waiting = waiting.slice(end);
    }
    return waiting.length > MESSAGE_LIMIT_UNITS ? TOO_LONG : Buffer.from(out, 'utf8');
  };
  const end = (): Uint8Array | typeof TOO_LONG => {
    waiting += decoder.decode();
    let out = '';
    // At the end of the stream, a trailing CR is a complete line end.
    for (
      let at = endOfMessage(`${waiting} `, 0);
      at >= 0 && waiting !== '';
      at = endOfMessage(`${waiting} `, 0)
    ) {
      const edited = editMessage(waiting.slice(0, at), replacements, note);
      if (edited === null) return TOO_LONG;
      out += edited;
      waiting = waiting.slice(at);
    }
    const rest = editMessage(waiting, replacements, note);
    return rest === null ? TOO_LONG : Buffer.from(out + rest, 'utf8');
  };
  return { push, end, found, count: () => count };
}

/** Offset after the first blank line from `from` on, or -1; a trailing CR may be half of a CRLF. */
function endOfMessage(text: string, from: number): number {
  BLANK_LINE.lastIndex = from;
  const blank = BLANK_LINE.exec(text);
  if (blank === null) return -1;
  const end = blank.index + blank[0].length;
  return end === text.length && text.endsWith('\r') ? -1 : end;
}

type Note = (index: number, replaced: Replaced) => void;

/** The message after editing; null when it would be too long, or too costly to make. */
function editMessage(message: string, replacements: readonly FieldReplacement[], note: Note): string | null {
  const lines = message.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
  const texts = { data: fieldText(lines, 'data'), retry: fieldText(lines, 'retry') };
  const before = { ...texts };
  for (const [index, replacement] of replacements.entries()) {
    const text = texts[replacement.field];
    if (text === null) continue;
    const replaced = replaceMatches(text, replacement, MESSAGE_LIMIT_UNITS);
    if (typeof replaced === 'string') return null;
    texts[replacement.field] = replaced.text;
    note(index, replaced);
  }
  if (texts.data === before.data && texts.retry === before.retry) return message;
  return writeMessage(lines, texts);
}

const FIELD = /^(data|retry)(?:: ?([^\r\n]*))?(?=[\r\n]|$)/;

/** The values of all lines of a field, joined as clients do; null if the field is absent. */
function fieldText(lines: readonly string[], name: 'data' | 'retry'): string | null {
  const values = lines.flatMap((line) => {
    const field = FIELD.exec(line);
    return field?.[1] === name ? [field[2] ?? ''] : [];
  });
  return values.length === 0 ? null : values.join('\n');
}

/** The message with the new fields in place of the old ones; uses the line end of the first line. */
function writeMessage(
  lines: readonly string[],
  texts: Readonly<Record<'data' | 'retry', string | null>>,
): string {
  const lineEnd = /[\r\n]+$/.exec(lines[0]!)?.[0] ?? '\n';
  const written = new Set<string>();
  let message = '';
  for (const line of lines) {
    const name = FIELD.exec(line)?.[1] as 'data' | 'retry' | undefined;
    if (name === undefined) message += line;
    else if (!written.has(name)) {
      written.add(name);
      for (const part of texts[name]!.split(/\r\n|\r|\n/)) message += `${name}: ${part}${lineEnd}`;
    }
  }
  // If the last line had no line end, it keeps none.
  const isOpen = !/[\r\n]$/.test(lines.at(-1)!) && message.endsWith(lineEnd);
  return isOpen ? message.slice(0, -lineEnd.length) : message;
}
