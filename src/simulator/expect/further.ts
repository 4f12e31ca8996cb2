import { compile } from '../../cel/program.ts';
import { BOOL } from '../../cel/types.ts';
import { isError } from '../../cel/values.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import { Activation } from '../../policy/env/activation.ts';
import { compileFacts } from '../../policy/env/facts_table.ts';
import { scopeFor } from '../../policy/env/scopes.ts';
import type { ExpectationConfig, ExpectedValue, FetchSentConfig } from '../document/schema.ts';
import type { Expectation, ExpectationContext } from './expectation_context.ts';
import type { Mismatch } from '../result.ts';
import { type Outcome, fieldValues } from './outcome.ts';
import { jsonMismatch } from './deeper.ts';
import { type ValueCheck, compileValue, shownValue } from './values.ts';

/** A path into JSON: names after dots, any name in brackets and quotes, indices in brackets. */
const PATH = /^\$(?:\.[\w-]+|\['[^']*'\]|\[\d+\])*$/;
const PART = /\.([\w-]+)|\['([^']*)'\]|\[(\d+)\]/g;

/** Whether data is expected by paths instead of as a subset. */
function arePaths(expected: unknown): expected is Readonly<Record<string, ExpectedValue>> {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected)) return false;
  const keys = Object.keys(expected);
  return keys.length > 0 && keys.every((key) => key.startsWith('$'));
}

function valueAt(data: unknown, path: string): unknown {
  let value = data;
  for (const [, name, quotedName, index] of path.matchAll(PART)) {
    const key = name ?? quotedName ?? Number(index);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[key];
  }
  return value;
}

/** Compiles the expectation of a JSON body: a subset of it, or values at paths such as `$.user.roles[0]`. */
export function compileJson(
  what: string,
  expected: unknown,
  pointer: string,
  { report }: ExpectationContext,
): (body: string) => Mismatch | null {
  if (!arePaths(expected)) return (body) => jsonMismatch(what, expected, body, pointer);
  const checks: { readonly path: string; readonly at: string; readonly check: ValueCheck }[] = [];
  for (const [path, value] of Object.entries(expected)) {
    const at = pointerTo(pointer, path);
    const check = compileValue(value);
    if (!PATH.test(path))
      report('scenario.bad_expectation', at, `${quoted(path)} is not a path such as $.a.b[0]`, { at: 'key' });
    else if ('problem' in check) report('scenario.bad_expectation', at, check.problem);
    else checks.push({ path, at, check });
  }
  return (body) => {
    let data: unknown;
    try {
      data = JSON.parse(body);
    } catch {
      return { what, expected: 'JSON', received: `no JSON: ${shownValue(body)}`, pointer };
    }
    for (const { path, at, check } of checks) {
      const received = valueAt(data, path);
      if (!check.holds(received))
        return {
          what: `${what}.${path}`,
          expected: check.message,
          received: shownValue(received),
          pointer: at,
        };
    }
    return null;
  };
}

const NO_FACTS = compileFacts([], '').facts;
const ENDPOINT = { id: '', host: '', port: 0, protocol: 'https' } as const;

/** Expressions as in policies, on the request as received and the response as sent; each has to be true. */
export function compileExpressions(
  texts: readonly string[],
  pointer: string,
  { service, report }: ExpectationContext,
): Expectation[] {
  const scope = scopeFor('on_http_response', { service });
  return texts.flatMap((text, index): Expectation[] => {
    const at = pointerTo(pointer, index);
    const { program, diagnostics } = compile(text, scope, { wants: BOOL });
    if (program === undefined) {
      const [first] = diagnostics;
      report('scenario.bad_expectation', at, first?.message ?? 'this is not an expression');
      return [];
    }
    const what = `expressions[${index}]`;
    return [
      ({ simulated: { exchange, response } }) => {
        const world = { nowMs: () => exchange.startMs, random: () => 0 };
        const surroundings = { facts: NO_FACTS, endpoint: ENDPOINT, secret: () => undefined };
        const { connection, head } = exchange;
        const result = program.evaluate(new Activation(world, surroundings, connection, head, response));
        if (result === true) return null;
        const received = isError(result) ? `an error: ${result.message}` : 'false';
        return { what, expected: text, received, pointer: at };
      },
    ];
  });
}

const UTF8 = new TextDecoder();

/** The edge's own requests, such as those of `http-request`: their number, or each of them in order. */
export function compileFetches(
  expected: NonNullable<ExpectationConfig['fetches']>,
  pointer: string,
  context: ExpectationContext,
): Expectation {
  const count = typeof expected === 'number' ? expected : expected.length;
  const checks =
    typeof expected === 'number'
      ? []
      : expected.map((each, index) => fetchChecks(each, index, pointerTo(pointer, index), context));
  return (outcome) => {
    const made = outcome.simulated.fetched?.length ?? 0;
    if (made !== count) return { what: 'fetches', expected: String(count), received: String(made), pointer };
    for (const check of checks.flat()) {
      const mismatch = check(outcome);
      if (mismatch !== null) return mismatch;
    }
    return null;
  };
}

function fetchChecks(
  { method, url, headers = {}, body, json }: FetchSentConfig,
  index: number,
  pointer: string,
  context: ExpectationContext,
): Expectation[] {
  const checks: Expectation[] = [];
  const fetched = ({ simulated }: Outcome) => simulated.fetched![index]!;
  const text = (outcome: Outcome) => UTF8.decode(fetched(outcome).body ?? new Uint8Array(0));
  const part = (
    name: string,
    expected: ExpectedValue | undefined,
    of: (outcome: Outcome) => unknown,
  ): void => {
    if (expected === undefined) return;
    const at = `${pointer}/${name.replace('.', '/')}`;
    const check = compileValue(expected);
    if ('problem' in check) context.report('scenario.bad_expectation', at, check.problem);
    else
      checks.push((outcome) => {
        const received = of(outcome);
        const what = `fetches[${index}].${name}`;
        if (check.holds(received)) return null;
        return { what, expected: check.message, received: shownValue(received), pointer: at };
      });
  };
  part('method', method, (outcome) => fetched(outcome).method);
  part('url', url, (outcome) => fetched(outcome).url);
  part('body', body, text);
  for (const [name, value] of Object.entries(headers))
    part(`headers.${name}`, value, (outcome) => fieldValues(fetched(outcome).headers, name));
  if (json !== undefined) {
    const check = compileJson(`fetches[${index}].json`, json, `${pointer}/json`, context);
    checks.push((outcome) => check(text(outcome)));
  }
  return checks;
}
