/** Why a message is refused, as the server names it. */
export type ProblemCode =
  | 'malformed'
  | 'head_too_large'
  | 'target_too_long'
  | 'framing'
  | 'version'
  | 'method'
  | 'transfer_coding'
  | 'expectation';

/** Why content or its framing is refused. */
export type ContentProblemCode = 'malformed' | 'extensions_too_large' | 'trailers_too_large';

/** A message that is not HTTP/1.1, or that two parsers could read differently. */
export interface Problem<Code = ProblemCode> {
  readonly code: Code;
  /** The status of the response to it. */
  readonly status: number;
  readonly detail: string;
}

const STATUS: Readonly<Record<ProblemCode | ContentProblemCode, number>> = {
  malformed: 400,
  framing: 400,
  head_too_large: 431,
  extensions_too_large: 413,
  trailers_too_large: 431,
  target_too_long: 414,
  version: 505,
  method: 501,
  transfer_coding: 501,
  expectation: 417,
};

/** Creates a problem with the status of its code. */
export function problem<Code extends ProblemCode | ContentProblemCode>(
  code: Code,
  detail: string,
): Problem<Code> {
  return { code, status: STATUS[code], detail };
}
