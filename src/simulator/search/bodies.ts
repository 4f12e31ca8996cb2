import { type Asked, has } from './constants.ts';

const BODY_LIMIT = 65_536;

/** Bodies around the lengths that expressions compare with. */
export function bodiesOf(asked: readonly Asked[]): Set<string> {
  const lengths = asked
    .flatMap(({ variables, numbers, names, texts }) => [
      ...(has(variables, /^req\.content_length/) ? numbers : []),
      ...(names.header.includes('content-length')
        ? texts.filter((text) => /^\d{1,9}$/.test(text)).map(Number)
        : []),
    ])
    .flatMap((count) => [count - 1, count, count + 1]);
  const possible = lengths.filter((length) => length >= 0 && length <= BODY_LIMIT);
  return new Set(possible.map((length) => 'x'.repeat(length)));
}
