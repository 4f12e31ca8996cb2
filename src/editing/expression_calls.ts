/** The call that the end of an expression is in. */
export interface OpenCall {
  /** What is called, with what is before its last dot; it begins with a dot after a bracket or a literal. */
  readonly path: string;
  /** Number of the argument, from 0. */
  readonly argument: number;
}

/** The innermost call whose brackets are open at the end of a text; null without one. */
export function callAtEnd(before: string): OpenCall | null {
  const open: { readonly path: string | null; argument: number }[] = [];
  let quote = '';
  for (let at = 0; at < before.length; at++) {
    const letter = before[at]!;
    if (quote !== '') {
      if (letter === '\\') at++;
      else if (letter === quote) quote = '';
    } else if (letter === "'" || letter === '"') quote = letter;
    else if (letter === '(') open.push({ path: calledBefore(before.slice(0, at)), argument: 0 });
    else if (letter === '[' || letter === '{') open.push({ path: null, argument: 0 });
    else if (')]}'.includes(letter)) open.pop();
    else if (letter === ',' && open.length > 0) open.at(-1)!.argument++;
  }
  // Within a list or a group, the call around it counts.
  const call = open.findLast(({ path }) => path !== null);
  return call === undefined ? null : { path: call.path!, argument: call.argument };
}

const CALLED = /(?:^|[^\w.])?(\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)$/;

function calledBefore(text: string): string | null {
  return CALLED.exec(text.slice(-LONGEST_NAME))?.[1] ?? null;
}

const LONGEST_NAME = 200;

/** The places of the parameters in a form such as `string.replace(string, string) → string`. */
export function parametersOf(form: string): (readonly [start: number, end: number])[] {
  const first = form.indexOf('(') + 1;
  const found: (readonly [number, number])[] = [];
  if (first === 0) return found;
  let depth = 0;
  let start = first;
  for (let at = first; at < form.length; at++) {
    const letter = form[at]!;
    if (letter === '(') depth++;
    else if ((letter === ')' && depth === 0) || (letter === ',' && depth === 0)) {
      if (at > start) found.push([start, at]);
      start = at + 2;
      if (letter === ')') break;
    } else if (letter === ')') depth--;
  }
  return found;
}
