import type { Configuration, Exchange } from '../../engine/exchange.ts';
import { redactIn } from '../../engine/redact.ts';
import { decidingStep, traceOf } from '../../engine/trace.ts';
import type { FieldList } from '../../http/fields.ts';
import { type Outcome, type StepFacts, fieldValues } from '../expect/outcome.ts';
import type { ConnectionOutcome } from '../run_connect.ts';
import type { SimulatedRequest } from '../simulated_request.ts';
import { snapshotOf, snapshotOfConnection } from '../snapshot.ts';
import type { Draft } from './draft.ts';

/** Names of header fields, in lower case, that a case expects to be absent if they are. */
export interface EditedNames {
  readonly request: ReadonlySet<string>;
  readonly response: ReadonlySet<string>;
}

/** Longer texts make a case unreadable. */
const TEXT_LIMIT_UNITS = 500;
/** Response fields that show the decision, even if the configuration does not mention them. */
const DECISIVE = /^(?:content-type|content-encoding|location|set-cookie|www-authenticate|retry-after|allow)$/;
/** Fields that follow from the message, or that every proxy sets. */
const FRAMING = /^(?:content-length|transfer-encoding|connection|date|via|forwarded|x-forwarded-.*)$/;

/**
 * Everything in a result that the configuration decides, as an expectation: the parts of a snapshot, fields that were
 * added and removed on both sides, bodies, every reason with its rule, logs and the duration.
 */
export function assertionsOf(
  outcome: Outcome,
  draft: Draft,
  names: EditedNames,
): Readonly<Record<string, unknown>> {
  const { headers: location, upstream, ...snapshot } = snapshotOf(outcome);
  const { simulated } = outcome;
  const { response, exchange } = simulated;
  const write = writer(exchange);
  const isReplied = response.status !== 0;
  const answered = new Set([...names.response, ...answeredNames(draft)]);
  const headers = isReplied
    ? { ...responseFields(response.headers, answered, write), ...(location as object) }
    : {};
  const body = isReplied ? shownBody(response.body, response.headers, write) : null;
  const logs = logsOf(exchange);
  const durationMs = simulated.endMs - simulated.sentMs;
  const seen = outcome.seen();
  return {
    ...snapshot,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== null && body !== '' && { body }),
    upstream:
      seen === null ? upstream : { ...(upstream as object), ...upstreamParts(outcome, draft, names, write) },
    because: reasonsOf(decidingStep(outcome.steps()).code, outcome.facts()),
    ...(logs.length > 0 && { logs }),
    ...(durationMs > 0 && { duration: durationMs }),
  };
}

/** Names of the fields that the script of an upstream has. */
function answeredNames({ upstreams }: Draft): string[] {
  return Object.values(upstreams).flatMap((answer) =>
    typeof answer === 'object' ? Object.keys(answer.headers ?? {}).map((name) => name.toLowerCase()) : [],
  );
}

/** As `assertionsOf`, for a connection. */
export function assertionsOfConnection(outcome: ConnectionOutcome): Readonly<Record<string, unknown>> {
  const { exchange } = outcome;
  const logs = logsOf(exchange);
  return {
    ...snapshotOfConnection(outcome),
    because: reasonsOf(decidingStep(traceOf(exchange)).code, outcome.facts()),
    ...(logs.length > 0 && { logs }),
  };
}

interface Logged {
  readonly logs: Exchange['logs'];
  readonly configuration: Pick<Configuration, 'redactor'>;
}

/** A text as an expected value; null if it is too long or contains a secret. */
type Write = (text: string) => string | null;

function writer({ configuration }: Logged): Write {
  const redact = configuration.redactor();
  return (text) =>
    text.length > TEXT_LIMIT_UNITS || (redact !== null && redact(text) !== text) ? null : text;
}

/** The fields of a list as expected values; missing fields in `absent` are expected to be absent. */
function responseFields(
  fields: FieldList,
  absent: ReadonlySet<string>,
  write: Write,
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const name of distinctNames(fields)) {
    if (!DECISIVE.test(name) && !absent.has(name)) continue;
    const values = fieldValues(fields, name);
    const value = name === 'set-cookie' ? cookieMatcher(values) : written(values, write);
    if (value !== null) found[name] = value;
  }
  for (const name of absent) if (fieldValues(fields, name).length === 0) found[name] = 'absent';
  return found;
}

function distinctNames(fields: FieldList): string[] {
  const names = new Set<string>();
  addNames(names, fields);
  return [...names];
}

function addNames(names: Set<string>, fields: FieldList): void {
  for (let at = 0; at < fields.length; at += 2) names.add(fields[at]!.toLowerCase());
}

function written(values: readonly string[], write: Write): unknown {
  const texts = values.map((value) => write(value));
  if (texts.includes(null)) return null;
  const [only] = texts;
  if (texts.length > 1) return texts;
  // The plain word would mean that there is no such field.
  return only === 'absent' ? { equals: only } : only;
}

/** Names and attributes of cookies; their values contain secrets of the edge. */
function cookieMatcher(lines: readonly string[]): unknown {
  const patterns = lines.map((line) => {
    const [pair = '', ...attributes] = line.split('; ');
    const name = pair.slice(0, pair.indexOf('='));
    return [`${escaped(name)}=[^;]*`, ...attributes.map(escaped)].join('; ');
  });
  return { matches: `^${patterns.join(', ')}$` };
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A body that a person can review; null for a page or other long or binary content. */
function shownBody(bytes: Uint8Array, fields: FieldList, write: Write): string | null {
  const isPage = fieldValues(fields, 'content-type')[0]?.startsWith('text/html') === true;
  if (isPage || bytes.length > TEXT_LIMIT_UNITS) return null;
  try {
    const text = write(UTF8.decode(bytes));
    return text === 'absent' ? null : text;
  } catch {
    return null;
  }
}

/** The upstream's request, as far as it differs from the client's. */
function upstreamParts(outcome: Outcome, draft: Draft, names: EditedNames, write: Write): object {
  const { request, body } = outcome.seen()!;
  const mark = request.target.indexOf('?');
  const query = mark < 0 ? undefined : write(request.target.slice(mark + 1));
  const sent = new TextEncoder().encode(draft.body);
  const isSame = body.length === sent.length && body.every((byte, at) => byte === sent[at]);
  const text = isSame ? null : shownBody(body, [], write);
  const headers = changedFields(request.headers, draft, names.request, write);
  const attempts = outcome.simulated.seen?.length ?? 0;
  return {
    ...(typeof query === 'string' && { query }),
    ...(mark < 0 && draft.query !== undefined && { query: 'absent' }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(text !== null && { body: text }),
    ...(attempts > 1 && { attempts }),
  };
}

function changedFields(
  fields: FieldList,
  { headers, host }: Draft,
  absent: ReadonlySet<string>,
  write: Write,
): Record<string, unknown> {
  const sent = [...headers, 'host', host];
  const found: Record<string, unknown> = {};
  for (const name of distinctNames(fields)) {
    if (FRAMING.test(name) || areAlike(fields, sent, name)) continue;
    const value = written(fieldValues(fields, name), write);
    if (value !== null) found[name] = value;
  }
  for (const name of [...distinctNames(sent), ...absent])
    if (!FRAMING.test(name) && fieldValues(fields, name).length === 0) found[name] = 'absent';
  return found;
}

/** Every reason, the deciding one first; rules and actions of policies by name. */
function reasonsOf(deciding: string, facts: readonly StepFacts[]): unknown {
  const told = facts.filter(({ code }) => !code.startsWith('route.') || code === deciding);
  const ordered = [...told.filter(({ code }) => code === deciding), ...told].map((step) => reasonOf(step));
  const reasons = [...new Map(ordered.map((reason) => [JSON.stringify(reason), reason])).values()];
  return reasons.length > 1 ? reasons : Object.keys(reasons[0]!).length === 1 ? deciding : reasons[0];
}

function reasonOf({ phase, code, rule, action }: StepFacts): object {
  // A policy gives the same reason in both phases.
  return {
    ...(rule === undefined && code.startsWith('traffic_policy.') && { phase }),
    code,
    ...(rule !== undefined && { rule }),
    ...(action !== undefined && { action }),
  };
}

function logsOf({ logs, configuration }: Logged): readonly unknown[] {
  if (logs === null) return [];
  const redact = configuration.redactor();
  return redact === null ? logs : redactIn(logs, redact);
}

/**
 * Names of fields in these responses, and of those that the edge set in upstream requests, if a configuration, or a script of
 * upstreams, mentions them. Fields that a client sent and the edge passed on are left out.
 */
export function editedNames(of: object, runs: Iterable<SimulatedRequest>): EditedNames {
  const text = JSON.stringify(of).toLowerCase();
  const isMentioned = (name: string): boolean => !FRAMING.test(name) && text.includes(name);
  const names = { request: new Set<string>(), response: new Set<string>() };
  for (const { seen, response, exchange } of runs) {
    for (const { request } of seen ?? [])
      for (const name of distinctNames(request.headers))
        if (!areAlike(request.headers, exchange.head.headers, name)) names.request.add(name);
    addNames(names.response, response.headers);
  }
  return {
    request: new Set([...names.request].filter(isMentioned)),
    response: new Set([...names.response].filter(isMentioned)),
  };
}

/** Whether both lists have the same values of a field. */
function areAlike(one: FieldList, other: FieldList, name: string): boolean {
  return fieldValues(one, name).join('\n') === fieldValues(other, name).join('\n');
}
