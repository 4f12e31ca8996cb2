import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import type { ExpectationConfig, ExpectedValue, UpstreamSawConfig } from '../document/schema.ts';
import { checkAgentName } from '../document/agents.ts';
import { decisionChecks, eventValue } from './deeper.ts';
import type { Expectation, ExpectationContext } from './expectation_context.ts';
import { compileExpressions, compileFetches, compileJson } from './further.ts';
import { durationMs } from '../document/durations.ts';
import { checkBackendName, checkEventPath } from './names.ts';
import { type Outcome, fieldValues } from './outcome.ts';
import { type ValueCheck, compileValue, shownValue } from './values.ts';

/** Compiles the expectations of one request; invalid ones are reported. */
export function compileExpectation(
  config: ExpectationConfig,
  pointer: string,
  context: ExpectationContext,
): Expectation[] {
  const checks: Expectation[] = [];
  const at = (key: string) => pointerTo(pointer, key);
  /** Most members are omitted in most cases, so the pointer is built last. */
  const value = (
    what: string,
    expected: ExpectedValue | undefined,
    of: (outcome: Outcome) => unknown,
    pointerOf: () => string = () => at(what),
  ): void => {
    if (expected === undefined) return;
    const check = compileValue(expected);
    if ('problem' in check)
      context.report('scenario.bad_expectation', placeIn(pointerOf(), check), check.problem);
    else checks.push(valueExpectation(what, check, pointerOf(), of));
  };
  if (config.connection !== undefined) {
    context.report(
      'scenario.bad_expectation',
      at('connection'),
      'only a case with `connect` has a connection',
    );
  }
  checkStatus(config, at, context);
  value('status', statusOf(config.status), statusSeen);
  for (const name in config.headers) {
    const seen = ({ simulated }: Outcome) => fieldValues(simulated.response.headers, name);
    value(`headers.${name}`, config.headers[name], seen, () => pointerTo(at('headers'), name));
  }
  value('body', config.body, bodySeen);
  if (config.json !== undefined) {
    const check = compileJson('json', config.json, at('json'), context);
    checks.push(({ simulated }) => check(text(simulated.response.body)));
  }
  if (config.backend !== undefined) {
    checkBackendName(config.backend, at('backend'), context.backends, context.report);
    value('backend', config.backend, (outcome) => outcome.backend());
  }
  checkAgentName(config.agent, at('agent'), context.agents, context.report);
  value('agent', config.agent, (outcome) => outcome.agent());
  if (config.upstream !== undefined)
    checks.push(...upstreamExpectations(config.upstream, at('upstream'), context));
  for (const path in config.event) {
    checkEventPath(path, 'http_request_complete.v0', pointerTo(at('event'), path), context.report);
    const seen = (outcome: Outcome) => eventValue(outcome.event(), path);
    value(`event.${path}`, config.event[path], seen, () => pointerTo(at('event'), path));
  }
  const { because, not_because: not, decisions, logs, expressions, fetches } = config;
  if (because !== undefined || not !== undefined || decisions !== undefined || logs !== undefined)
    checks.push(...decisionChecks<Outcome>(config, at, context, ({ simulated }) => simulated.exchange));
  if (expressions !== undefined) checks.push(...compileExpressions(expressions, at('expressions'), context));
  if (fetches !== undefined) checks.push(compileFetches(fetches, at('fetches'), context));
  value('duration', durationOf(config.duration, at('duration'), context), durationSeen);
  return checks;
}

function statusSeen({ simulated: { response } }: Outcome): unknown {
  return response.status === 0 ? 'none' : response.status;
}

function bodySeen({ simulated }: Outcome): string {
  return text(simulated.response.body);
}

function durationSeen({ simulated }: Outcome): number {
  return simulated.endMs - simulated.sentMs;
}

function valueExpectation(
  what: string,
  check: ValueCheck,
  pointer: string,
  of: (outcome: Outcome) => unknown,
): Expectation {
  return (outcome) => {
    const received = of(outcome);
    if (check.holds(received)) return null;
    return { what, expected: check.message, received: shownValue(received), pointer };
  };
}

/** Milliseconds; a string is a duration as everywhere else. */
function durationOf(
  given: ExpectationConfig['duration'],
  pointer: string,
  { report }: ExpectationContext,
): ExpectationConfig['duration'] {
  if (typeof given !== 'string' || given === 'absent') return given;
  const ms = durationMs(given);
  if (!Number.isNaN(ms)) return ms;
  report(
    'scenario.bad_expectation',
    pointer,
    `${quoted(given)} is not a duration such as 60000, '5ms' or '1m'`,
  );
  return undefined;
}

/** Checks that a status is valid, and that nothing is expected of a missing response. */
function checkStatus(
  config: ExpectationConfig,
  at: (key: string) => string,
  { report }: ExpectationContext,
): void {
  const { status } = config;
  if (typeof status === 'string' && !/^(?:[1-5]xx|none|absent|[1-5]\d\d)$/.test(status)) {
    const notes = ['a number, a list of numbers, 2xx, none, or conditions'];
    report('scenario.bad_expectation', at('status'), `${quoted(status)} is not a status`, { notes });
  }
  if (status !== 'none') return;
  const asked = (['headers', 'body', 'json'] as const).find((key) => config[key] !== undefined);
  if (asked === undefined) return;
  const message = `without a response, \`${asked}\` cannot be expected`;
  report('scenario.bad_expectation', at(asked), message, { at: 'key' });
}

/** `2xx` and the like mean a range. */
function statusOf(status: ExpectationConfig['status']): ExpectedValue | undefined {
  if (typeof status !== 'string' || !/^[1-5]xx$/.test(status)) return status;
  const first = Number(status[0]) * 100;
  return { at_least: first, at_most: first + 99 };
}

function placeIn(pointer: string, { key }: { readonly key?: string }): string {
  return key === undefined ? pointer : pointerTo(pointer, key);
}

const UTF8 = new TextDecoder();

function text(bytes: Uint8Array): string {
  return bytes.length === 0 ? '' : UTF8.decode(bytes);
}

/** Parts of the request that an upstream received, by the key of the expectation. */
const UPSTREAM_PARTS = {
  backend: (outcome) => outcome.seen()?.request.endpoint.id ?? 'none',
  method: (outcome) => outcome.seen()?.request.method,
  path: (outcome) => outcome.seen()?.request.target.split('?')[0],
  query: (outcome) => queryOf(outcome.seen()?.request.target),
  body: (outcome) => (outcome.seen() === null ? undefined : text(outcome.seen()!.body)),
  attempts: ({ simulated }) => simulated.seen?.length ?? 0,
} as const satisfies Readonly<Record<string, (outcome: Outcome) => unknown>>;
const UPSTREAM_KEYS = Object.keys(UPSTREAM_PARTS) as (keyof typeof UPSTREAM_PARTS)[];

function upstreamExpectations(
  upstream: string | UpstreamSawConfig,
  pointer: string,
  context: ExpectationContext,
): Expectation[] {
  if (upstream === 'none') {
    return [
      valueExpectation('upstream', IS_NONE, pointer, ({ simulated }) =>
        simulated.seen === null
          ? 'none'
          : simulated.seen.map(({ request }) => request.endpoint.id).join(', '),
      ),
    ];
  }
  if (typeof upstream === 'string') {
    checkBackendName(upstream, pointer, context.backends, context.report);
    const of = (outcome: Outcome) => UPSTREAM_PARTS.backend(outcome);
    const check = compileValue(upstream);
    return 'problem' in check ? [] : [valueExpectation('upstream.backend', check, pointer, of)];
  }
  checkBackendName(upstream.backend, `${pointer}/backend`, context.backends, context.report);
  const checks: Expectation[] = [];
  const part = (
    name: string,
    expected: ExpectedValue | undefined,
    of: (outcome: Outcome) => unknown,
    at: string,
  ): void => {
    if (expected === undefined) return;
    const check = compileValue(expected);
    if ('problem' in check) context.report('scenario.bad_expectation', placeIn(at, check), check.problem);
    else if (name === 'backend' || name === 'attempts')
      checks.push(valueExpectation(`upstream.${name}`, check, at, of));
    else {
      const holds = (received: unknown) => received !== NOT_REACHED && check.holds(received);
      checks.push(valueExpectation(`upstream.${name}`, { message: check.message, holds }, at, reached(of)));
    }
  };
  for (const key of UPSTREAM_KEYS) {
    if (upstream[key] !== undefined) part(key, upstream[key], UPSTREAM_PARTS[key], pointerTo(pointer, key));
  }
  for (const name in upstream.headers) {
    const seen = (outcome: Outcome) => fieldValues(outcome.seen()?.request.headers ?? [], name);
    part(`headers.${name}`, upstream.headers[name], seen, pointerTo(pointerTo(pointer, 'headers'), name));
  }
  if (upstream.json !== undefined) {
    const check = compileJson('upstream.json', upstream.json, `${pointer}/json`, context);
    checks.push((outcome) => check(text(outcome.seen()?.body ?? new Uint8Array(0))));
  }
  return checks;
}

const IS_NONE: ValueCheck = { message: "'none'", holds: (received) => received === 'none' };
const NOT_REACHED = 'no upstream was reached';

/** Without an upstream the request is not `absent`: the expectation fails. */
function reached(of: (outcome: Outcome) => unknown) {
  return (outcome: Outcome): unknown => (outcome.seen() === null ? NOT_REACHED : of(outcome));
}

function queryOf(target: string | undefined): string | undefined {
  const mark = target?.indexOf('?') ?? -1;
  return mark < 0 ? undefined : target!.slice(mark + 1);
}
