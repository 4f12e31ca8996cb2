import type { Program } from '../cel/program.ts';
import { Activation } from '../policy/env/activation.ts';
import { compileFacts } from '../policy/env/facts_table.ts';
import { type RequestLike, connectionFor, headOf } from '../engine/request_like.ts';
import { decideWithConstants } from '../engine/drivers/constant.ts';
import type { Answers, Question, UpstreamRequest } from '../engine/questions.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { Exercise } from '../filters/fact_values.ts';
import { beginStated } from '../edge/connect.ts';
import { type Explanation, explanationOf } from '../edge/explain.ts';
import { addressFrom } from './addresses.ts';
import { SENT_HOST } from './authority.ts';
import { CHANCE_FIELD, CHANCE_STEPS } from './number_terms.ts';
import { type Model, canonical } from './model.ts';
import type { Values } from './relations.ts';

/** A request that can be run. */
export interface Witness {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly clientIp: string;
  /** Requests like it that are sent before it, on which limits depend. */
  readonly before?: Exercise;
  /** What chance gives, from 0 to 1; default 0.5. */
  readonly chance?: number;
}

/** What the engine does with a request, as far as clients and upstreams see it. */
export interface Observed {
  /** Equal texts look alike. */
  readonly seen: string;
  readonly looks: Looks;
  /** Whether chance was asked. */
  readonly usesChance: boolean;
  readonly status: number;
  readonly backend: string | null;
  readonly explanation: Explanation;
}

/** Writes values of fields as a request; null if they cannot be sent. Unmentioned fields have usual values. */
export function witnessOf({ texts, more, addresses }: Values): Witness | null {
  const client = addressFrom(addresses);
  if (client === null) return null;
  const headers: [string, string][] = [];
  const cookies: string[] = [];
  const params: string[] = [];
  for (const [field, text] of texts) {
    const [kind, name] = splitField(field);
    if (text === null || name === undefined) continue;
    for (const value of [text, ...(more.get(field) ?? [])]) {
      if (kind === 'header') headers.push([name, value]);
      if (kind === 'cookie') cookies.push(`${name}=${cookieValue(value)}`);
      if (kind === 'query') params.push(`${encodeURIComponent(name)}=${parameterValue(value)}`);
    }
  }
  if (cookies.length > 0) headers.push(['cookie', cookies.join('; ')]);
  const host = texts.get(SENT_HOST) ?? texts.get('host') ?? 'unknown.test';
  const sent = texts.get('req.url.raw_path') ?? '';
  const path = sent.startsWith('/') ? sent : (texts.get('path') ?? '/');
  const chance = chanceOf(texts);
  const whole = texts.get('req.url.query') ?? '';
  const query = [...(whole === '' ? [] : [whole]), ...params].join('&');
  return {
    method: texts.get('method') ?? 'GET',
    url: `${texts.get('scheme') ?? 'https'}://${host}${path}${query === '' ? '' : `?${query}`}`,
    headers,
    clientIp: client.text,
    ...(chance !== null && { chance }),
  };
}

/** The value that all evaluations of chance get; null if they need none, or different ones. */
function chanceOf(texts: Values['texts']): number | null {
  const steps = [...texts].flatMap(([field, text]) => (field.startsWith(CHANCE_FIELD) ? [Number(text)] : []));
  const [first] = steps;
  return first === undefined || steps.some((each) => each !== first) ? null : first / CHANCE_STEPS;
}

/** A slash is sent as it is, so that rewrites find it (RFC 3986 §3.4). */
function parameterValue(text: string): string {
  return encodeURIComponent(text).replaceAll('%2F', '/');
}

/** Without quotes, white space at the ends and quotes would be lost. */
function cookieValue(text: string): string {
  return /^\s|\s$|^".*"$/.test(text) ? `"${text}"` : text;
}

/** `header x-team` as two parts; fields after a change are not what the client sends. */
function splitField(field: string): readonly [kind: string, name: string | undefined] {
  const space = field.indexOf(' ');
  const name = space < 0 ? undefined : field.slice(space + 1);
  return [field.slice(0, Math.max(0, space)), name?.includes(' ') === true ? undefined : name];
}

/** A witness as the engine gets it; null if it cannot be written as a request. */
function received({ method, url, headers, clientIp }: Witness) {
  const request: RequestLike = { method, url, headers };
  try {
    const head = headOf(request);
    return { head, connection: connectionFor(head, { clientIp }) };
  } catch {
    return null;
  }
}

/** Runs a request through the real engine; upstreams answer with an empty 200. Null if it cannot be written. */
export function observe(model: Model, witness: Witness): Observed | null {
  const given = received(witness);
  if (given === null) return null;
  const edge = model.fixture.fresh();
  const { chance = CHANCE, before } = witness;
  let nowMs = NOW_MS;
  let usesChance = false;
  const random = (): number => {
    usesChance = true;
    return chance;
  };
  const world = { nowMs: () => nowMs, random };
  const run = (upstream: Answers['forward'], seen?: (question: Question) => void): Exchange => {
    const exchange = decideWithConstants(
      beginStated(edge, given.connection, given.head, world),
      upstream,
      seen,
    );
    model.fixture.touched(exchange);
    return exchange;
  };
  if (before !== undefined) {
    const { count, failing, succeeding = 0, everyMs = 1, thenMs } = before;
    for (let at = 0; at < count; at++, nowMs += everyMs) run(failing && at >= succeeding ? FAILED : OK);
    nowMs += thenMs;
  }
  const forwarded: UpstreamRequest[] = [];
  const exchange = run(OK, (question) => {
    if (question.ask === 'forward') forwarded.push(question.request);
  });
  const explanation = explanationOf(exchange, model.fixture.locate);
  const looks = looksOf(exchange, forwarded);
  return {
    seen: canonical(looks),
    looks,
    usesChance,
    status: explanation.status,
    backend: explanation.backend,
    explanation,
  };
}

/** Whether an expression is true for a request, evaluated as a policy would. */
export function isTrueFor(model: Model, program: Program<Activation>, witness: Witness): boolean {
  const given = received(witness);
  if (given === null || 'refused' in given.head) return false;
  const { facts } = compileFacts(model.config.facts, '/facts');
  const { host, scheme } = given.head;
  const endpoint = { id: '', host, port: scheme === 'https' ? 443 : 80, protocol: scheme };
  const surroundings = { endpoint, facts, secret: () => undefined };
  const world = { nowMs: () => NOW_MS, random: () => CHANCE };
  return (
    program.evaluate(
      new Activation(world, surroundings, { ...given.connection, startMs: NOW_MS }, given.head),
    ) === true
  );
}

const NOW_MS = Date.UTC(2026, 0, 1);
const CHANCE = 0.5;
const OK = { head: { status: 200, headers: [] }, reused: false } as const;
const FAILED = { head: { status: 503, headers: [] }, reused: false } as const;

/** All that a client, an upstream and the log get to see of an exchange. */
export type Looks = Pick<Exchange, 'response' | 'body' | 'compress' | 'logs' | 'converts'> & {
  readonly forwarded: readonly UpstreamRequest[];
};

function looksOf(
  { response, body, compress, logs, converts }: Exchange,
  forwarded: readonly UpstreamRequest[],
): Looks {
  return { response, body, compress, logs, converts, forwarded };
}
