/** A value of a line of JSON, in text order. */
export interface Leaf {
  /** Keys and indices from the root, joined by line breaks, which no key contains. */
  readonly path: string;
  readonly kind: 'text' | 'count';
}

/** Integers of up to 15 digits are exact. */
const COUNT = /^(?:0|[1-9]\d{0,14})$/;

/** The values of a line of valid JSON without escapes, and the texts between them. */
export function leavesOf(line: string): { leaves: Leaf[]; texts: string[]; values: string[] } {
  const leaves: Leaf[] = [];
  const texts: string[] = [];
  const values: string[] = [];
  let at = 0;
  let from = 0;
  const blank = (): void => {
    while (/\s/.test(line[at] ?? '')) at++;
  };
  const found = (kind: Leaf['kind'], path: string, begin: number, end: number): void => {
    leaves.push({ path, kind });
    texts.push(detached(line.slice(from, begin)));
    values.push(detached(line.slice(begin, end)));
    from = end;
  };
  const value = (path: string): void => {
    blank();
    const first = line[at];
    if (first === '{' || first === '[') members(path, first === '{');
    else if (first === '"') {
      const end = line.indexOf('"', at + 1);
      found('text', path, at + 1, end);
      at = end + 1;
    } else {
      const [token] = /^[^\s,\]}]+/.exec(line.slice(at))!;
      if (COUNT.test(token) && endsCount(line.charCodeAt(at + token.length)))
        found('count', path, at, at + token.length);
      at += token.length;
    }
  };
  const members = (path: string, isObject: boolean): void => {
    at++;
    for (let index = 0; ; index++) {
      blank();
      if (line[at] === '}' || line[at] === ']') break;
      if (line[at] === ',') at++;
      blank();
      let key = String(index);
      if (isObject) {
        const end = line.indexOf('"', at + 1);
        key = line.slice(at + 1, end);
        at = line.indexOf(':', end) + 1;
      }
      value(path === '' ? key : `${path}\n${key}`);
    }
    at++;
  };
  value('');
  texts.push(detached(line.slice(from)));
  return { leaves, texts, values };
}

/** Whether the character ends an integer, because it starts neither a fraction nor an exponent. */
export function endsCount(code: number): boolean {
  return code === 44 || code === 125 || code === 93;
}

/** V8 keeps the parent string alive for a substring: what is kept of a line must not hold on to all of it. */
function detached(text: string): string {
  return ` ${text}`.slice(1);
}
