/** Why a message is refused, in the words of whoever answers it. */
export type ProblemCode =
  | 'malformed'
  | 'head_too_large'
  | 'target_too_long'
  | 'framing'
  | 'version'
  | 'method'
  | 'transfer_coding'
  | 'expectation';

/** The same of content and of what stands around it. */
export type ContentProblemCode = 'malformed' | 'extensions_too_large' | 'trailers_too_large';

/** A message that is not HTTP/1.1, or that two readers could read differently. */
export interface Problem<Code = ProblemCode> {
  readonly code: Code;
  /** What a server answers to a request that has it. */
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

/** Makes a problem; its status is that of its code. */
export function problem<Code extends ProblemCode | ContentProblemCode>(
  code: Code,
  detail: string,
): Problem<Code> {
  return { code, status: STATUS[code], detail };
}
