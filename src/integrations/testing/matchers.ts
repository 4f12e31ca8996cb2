import { DECISIONS } from '../../events/fields.ts';
import { holdsSubset } from '../../simulator/expect/values.ts';
import { type Received, explained, received } from './received.ts';

/** The result of a matcher; Vitest, Jest and bun use the same shape. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
  readonly expected?: unknown;
  readonly actual?: unknown;
}

/** A denial by its parts; omitted parts match anything. */
export interface Denial {
  /** Type of the module that stopped the request, or `route` or `engine`. */
  readonly module?: string;
  /** Reason code, such as `ip_restriction.denied`. */
  readonly code?: string;
  /** Rule or action of a traffic policy, by its name. */
  readonly rule?: string;
}

/** A subset of an event's fields: dotted names (`http.response.status_code`), or nested as in the event. */
export type EventFields = Readonly<Record<string, unknown>>;

/** The request that the upstream received; omitted parts match anything. */
export interface UpstreamFields {
  readonly backend?: string;
  readonly method?: string;
  /** Path and query. */
  readonly target?: string;
  /** Null for a field that must be absent. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: string;
}

function result(
  pass: boolean,
  wanted: string,
  found: string,
  from: Received,
  values: { readonly expected?: unknown; readonly actual?: unknown } = {},
): MatcherResult {
  const message = () =>
    pass
      ? `expected the request not ${wanted}\n\n${explained(from)}`
      : `expected the request ${wanted}, but ${found}\n\n${explained(from)}`;
  return { pass, message, ...values };
}

function outcomeText({ decidedBy, status, backend }: Received): string {
  if (decidedBy.verdict === 'stop')
    return `${decidedBy.module} stopped it with ${status} (${decidedBy.code})`;
  return backend === null ? `it ended with ${status} (${decidedBy.code})` : `it reached ${backend}`;
}

/** `ip_restriction`, `ip_restriction.denied`, or the parts of a denial; without an argument, any denial. */
function toBeDeniedBy(value: unknown, by: string | Denial = {}): MatcherResult {
  const from = received(value);
  const { decidedBy } = from;
  const wanted: Denial = typeof by === 'string' ? (by.includes('.') ? { code: by } : { module: by }) : by;
  const isRule =
    wanted.rule === undefined || (decidedBy.inner ?? []).some(({ name }) => name === wanted.rule);
  const pass =
    decidedBy.verdict === 'stop' &&
    (wanted.module === undefined || decidedBy.module === wanted.module) &&
    (wanted.code === undefined || decidedBy.code === wanted.code) &&
    isRule;
  const name = [wanted.module, wanted.code, wanted.rule].filter((part) => part !== undefined).join(' ');
  return result(pass, `to be denied${name === '' ? '' : ` by ${name}`}`, outcomeText(from), from, {
    expected: wanted,
    actual: { module: decidedBy.module, code: decidedBy.code },
  });
}

/** Any backend, or the one with this name. */
function toReachBackend(value: unknown, name?: string): MatcherResult {
  const from = received(value);
  const reached =
    from.decidedBy.module === 'upstream' || from.decidedBy.verdict === 'pass' ? from.backend : null;
  const pass = name === undefined ? reached !== null : reached === name;
  return result(
    pass,
    `to reach ${name === undefined ? 'a backend' : `backend ${name}`}`,
    outcomeText(from),
    from,
    {
      expected: name,
      actual: reached,
    },
  );
}

function toHaveStatus(value: unknown, status: number): MatcherResult {
  const from = received(value);
  const values = { expected: status, actual: from.status };
  return result(from.status === status, `to have status ${status}`, outcomeText(from), from, values);
}

/** A status of 300 to 399 and this `Location`: exact text or pattern. */
function toRedirectTo(value: unknown, location: string | RegExp): MatcherResult {
  const from = received(value);
  const found = from.header('location');
  const isRedirect = from.status >= 300 && from.status < 400 && found !== null;
  const pass = isRedirect && (typeof location === 'string' ? found === location : location.test(found));
  const is = isRedirect ? `it is redirected to ${found}` : outcomeText(from);
  return result(pass, `to be redirected to ${String(location)}`, is, from, {
    expected: location,
    actual: found,
  });
}

/** A field of the response with this value, or any value; null for a field that must be absent. */
function toHaveResponseHeader(value: unknown, name: string, wanted?: string | RegExp | null): MatcherResult {
  const from = received(value);
  const found = from.header(name);
  const pass =
    wanted === undefined
      ? found !== null
      : wanted instanceof RegExp
        ? found !== null && wanted.test(found)
        : found === wanted;
  const shown = wanted === undefined || wanted === null ? '' : ` of ${String(wanted)}`;
  const is = found === null ? 'it is absent' : `it is ${found}`;
  return result(pass, `to have ${wanted === null ? 'no ' : ''}response header ${name}${shown}`, is, from, {
    expected: wanted,
    actual: found,
  });
}

function toHaveEvent(value: unknown, fields: EventFields): MatcherResult {
  const from = received(value);
  const missing = Object.entries(fields).filter(
    ([name, wanted]) => !holdsSubset(at(from.event, name), wanted),
  );
  const shown = missing.map(([name]) => `${name} is ${JSON.stringify(at(from.event, name)) ?? 'absent'}`);
  return result(
    missing.length === 0,
    `to have an event with ${JSON.stringify(fields)}`,
    shown.join(', '),
    from,
    {
      expected: fields,
      actual: Object.fromEntries(Object.keys(fields).map((name) => [name, at(from.event, name)])),
    },
  );
}

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => {
    if (typeof inner !== 'object' || inner === null) return undefined;
    return Object.hasOwn(inner, name) ? (inner as Record<string, unknown>)[name] : undefined;
  }, value);
}

const DECISION_PATHS = new Map(DECISIONS);

/** The decision of a module as in events: `allow`, `block`, `allow_while_open`, `invalid`. */
function toHaveDecision(value: unknown, module: string, decision: string): MatcherResult {
  const from = received(value);
  const found = at(from.event, DECISION_PATHS.get(module) ?? `${module}.decision`);
  return result(found === decision, `to have ${module} decide ${decision}`, `it is ${String(found)}`, from, {
    expected: decision,
    actual: found,
  });
}

/** The request that the upstream received; only a simulator records it. */
function toShowUpstream(value: unknown, fields: UpstreamFields): MatcherResult {
  const from = received(value);
  if (from.upstream === undefined)
    throw new TypeError('the upstream is only known for exchanges of a simulator');
  const seen = from.upstream;
  if (seen === null) return result(false, 'to reach an upstream', outcomeText(from), from);
  const { request, body } = seen;
  const found = {
    backend: request.endpoint.id,
    method: request.method,
    target: request.target,
    headers: Object.fromEntries(
      Object.keys(fields.headers ?? {}).map((name) => [name, valueOf(request.headers, name)]),
    ),
    body: new TextDecoder().decode(body),
  };
  const differs = Object.keys(fields).filter(
    (name) =>
      JSON.stringify(found[name as keyof typeof found]) !==
      JSON.stringify(fields[name as keyof typeof fields]),
  );
  const shown = differs.map((name) => `${name} is ${JSON.stringify(found[name as keyof typeof found])}`);
  return result(
    differs.length === 0,
    `to show its upstream ${JSON.stringify(fields)}`,
    shown.join(', '),
    from,
    {
      expected: fields,
      actual: Object.fromEntries(
        Object.keys(fields).map((name) => [name, found[name as keyof typeof found]]),
      ),
    },
  );
}

function valueOf(headers: readonly string[], name: string): string | null {
  const values = headers.filter(
    (_, index) => index % 2 === 1 && headers[index - 1]!.toLowerCase() === name.toLowerCase(),
  );
  return values.length === 0 ? null : values.join(', ');
}

/** For `expect.extend(edgeMatchers)`. */
export const edgeMatchers = {
  toBeDeniedBy,
  toHaveDecision,
  toHaveEvent,
  toHaveResponseHeader,
  toHaveStatus,
  toReachBackend,
  toRedirectTo,
  toShowUpstream,
};
