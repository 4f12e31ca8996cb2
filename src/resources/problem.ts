/** A request that is answered with an error: the body of the answer, and the reason why a transaction is undone. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  /** Number of the error in the service's catalogue; null where the service gives none. */
  readonly number: number | null;
  /** Texts only: clients read them as a map of strings. */
  readonly details: Readonly<Record<string, string>>;

  constructor(
    status: number,
    number: number | null,
    message: string,
    details: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.number = number;
    this.details = details;
  }
}

/** A value that is refused, at a JSON pointer into the request's body. */
export function refusedValue(number: number, pointer: string, says: string): ApiProblem {
  return new ApiProblem(400, number, says, { pointer });
}

/** Numbers that every resource uses. */
export const COMMON = {
  unknownField: 214,
  badValue: 215,
  notFound: 222,
  wrongPrefix: 227,
  wrongPrefixes: 243,
  otherEdge: 7110,
} as const;
