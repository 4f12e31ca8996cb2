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

/** A message that is not HTTP/1.1, or that two parsers could read differently. The engine gives the status of a code. */
export interface Problem<Code = ProblemCode> {
  readonly code: Code;
  readonly detail: string;
}

export function problem<Code extends ProblemCode | ContentProblemCode>(
  code: Code,
  detail: string,
): Problem<Code> {
  return { code, detail };
}
