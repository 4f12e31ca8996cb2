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

/** A message that is not HTTP/1.1, or that two readers could read differently. */
export interface Problem {
  readonly code: ProblemCode;
  /** What a server answers to a request that has it. */
  readonly status: number;
  readonly detail: string;
}

const STATUS: Readonly<Record<ProblemCode, number>> = {
  malformed: 400,
  framing: 400,
  head_too_large: 431,
  target_too_long: 414,
  version: 505,
  method: 501,
  transfer_coding: 501,
  expectation: 417,
};

/** Makes a problem; its status is that of its code. */
export function problem(code: ProblemCode, detail: string): Problem {
  return { code, status: STATUS[code], detail };
}
