/** An error response: its body, and the reason for rolling back a transaction. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  /** Error number in the service's catalogue; null if the service has none. */
  readonly number: number | null;
  /** Strings only: clients parse them as a map of strings. */
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

/** An invalid value, at a JSON pointer into the request's body. */
export function refusedValue(number: number, pointer: string, message: string): ApiProblem {
  return new ApiProblem(400, number, message, { pointer });
}

/** Error numbers that several resources or routes use. */
export const COMMON = {
  unknownField: 214,
  badValue: 215,
  notFound: 222,
  wrongPrefix: 227,
  wrongPrefixes: 243,
  otherEdge: 7110,
  hostportTaken: 7122,
} as const;
