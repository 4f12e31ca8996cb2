import type { Span } from '../diagnostics/diagnostic.ts';
import { type Locator, tokensOf } from './locate.ts';

interface Place {
  readonly key: Span | undefined;
  readonly value: Span;
}

/** The parts of a list or a map, by index or by key. */
type Parts = readonly Place[] | ReadonlyMap<string, Place>;

/** Finds the positions of JSON pointers in a text of JSON without repeated keys, on demand: most texts are never asked. */
export function jsonPlaces(text: string): Locator {
  const known = new Map<number, Parts>();
  const partsAt = (start: number): Parts => {
    let parts = known.get(start);
    if (parts === undefined) known.set(start, (parts = partsOf(text, start)));
    return parts;
  };
  let whole: Place | undefined;
  const find = (pointer: string): Place | undefined => {
    whole ??= { key: undefined, value: spanAt(text, afterSpace(text, 0)) };
    let place: Place | undefined = whole;
    for (const token of tokensOf(pointer)) {
      const parts = partsAt(place.value.start);
      if (parts instanceof Map) place = parts.get(token);
      else place = /^\d+$/.test(token) ? (parts as readonly Place[])[Number(token)] : undefined;
      if (place === undefined) return undefined;
    }
    return place;
  };
  return { spanOf: (pointer) => find(pointer)?.value, keySpanOf: (pointer) => find(pointer)?.key };
}

const [QUOTE, OPEN_LIST, OPEN_MAP] = [0x22, 0x5b, 0x7b];
const SPACE = /[ \t\n\r]*/y;
const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
/** A number or a word. */
const OTHER = /[^\s,\]}]+/y;
/** What may come before the next bracket, outside of strings. */
const NO_BRACKET = /[^"[\]{}]*/y;

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return pattern.lastIndex;
}

const afterSpace = (text: string, at: number): number => endOf(SPACE, text, at);

function spanAt(text: string, start: number): Span {
  const unit = text.charCodeAt(start);
  if (unit === QUOTE) return { start, end: endOf(TEXT, text, start) };
  if (unit !== OPEN_LIST && unit !== OPEN_MAP) return { start, end: endOf(OTHER, text, start) };
  let depth = 1;
  let at = start + 1;
  while (depth > 0) {
    at = endOf(NO_BRACKET, text, at);
    const next = text.charCodeAt(at);
    if (next === QUOTE) at = endOf(TEXT, text, at);
    else {
      depth += next === OPEN_LIST || next === OPEN_MAP ? 1 : -1;
      at += 1;
    }
  }
  return { start, end: at };
}

function partsOf(text: string, start: number): Parts {
  const unit = text.charCodeAt(start);
  if (unit !== OPEN_LIST && unit !== OPEN_MAP) return [];
  const list: Place[] = [];
  const map = new Map<string, Place>();
  // After a bracket or a comma there is a part, or the end.
  for (let at = afterSpace(text, start + 1); !/[\]}]/.test(text[at]!); at = afterSpace(text, at)) {
    if (text[at] === ',') at = afterSpace(text, at + 1);
    let key: Span | undefined;
    if (unit === OPEN_MAP) {
      key = spanAt(text, at);
      at = afterSpace(text, afterSpace(text, key.end) + 1);
    }
    const place = { key, value: spanAt(text, at) };
    if (key === undefined) list.push(place);
    else map.set(JSON.parse(text.slice(key.start, key.end)) as string, place);
    at = place.value.end;
  }
  return unit === OPEN_MAP ? map : list;
}
