import { meantWord } from '../../diagnostics/meant.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import type { Report } from '../../diagnostics/report.ts';
import { shaped } from '../../config_file/validate.ts';
import { listed, quoted } from '../../diagnostics/message_text.ts';
import { isFieldName, isFieldValue } from '../../http/fields.ts';
import { type Answering, type Fault, type Stub, type UpstreamScript, PLAIN_ANSWER } from '../upstreams.ts';
import type { ScenarioCode } from './codes.ts';
import { durationMs } from './durations.ts';
import { ANSWER_SHAPE } from './scenario_shape.ts';
import type { AnswerConfig, UpstreamConfig } from './schema.ts';
import { keySet } from './tokens.ts';

const FAULTS: readonly Fault[] = ['hang', 'reset', 'half', 'refuse', 'invalid'];
const HALF_BODY = new TextEncoder().encode('half of this body is never sent');

/** Compiles scripted upstreams; names have to be backends of the edge, or URLs. Problems are reported. */
export function compileUpstreams(
  given: Readonly<Record<string, UpstreamConfig>> | undefined,
  pointer: string,
  backends: readonly string[],
  report: Report<ScenarioCode>,
): ReadonlyMap<string, UpstreamScript> {
  const scripts = new Map<string, UpstreamScript>();
  for (const [name, config] of Object.entries(given ?? {})) {
    const at = pointerTo(pointer, name);
    if (!name.includes('://') && !backends.includes(name)) {
      report('scenario.unknown_backend', at, `the edge has no dialled backend ${quoted(name)}`, {
        at: 'key',
        ...meantWord(suggest(name, backends)),
        notes: [`dialled backends: ${listed(backends)}`],
      });
      continue;
    }
    scripts.set(name, compileScript(config, at, report));
  }
  return scripts;
}

/** Compiles one scripted upstream. Problems are reported. */
export function compileScript(
  config: UpstreamConfig,
  pointer: string,
  report: Report<ScenarioCode>,
): UpstreamScript {
  if (typeof config !== 'object')
    return { answers: [compileAnswer({}, config, pointer, report)], afterwards: 'last' };
  const { stubs: given = [], workers, sequence, afterwards = 'last', ...base } = config;
  const stubs = given.map((stub, index) =>
    compileStub(base, stub, pointerTo(`${pointer}/stubs`, index), report),
  );
  const answers = sequence?.map((each, index) =>
    compileAnswer(base, each, pointerTo(`${pointer}/sequence`, index), report),
  ) ?? [compileAnswer({}, base, pointer, report)];
  return { answers, afterwards, stubs, ...(workers !== undefined && { workers }) };
}

/** Compiles a response to some requests; it inherits from the response beside it. */
function compileStub(
  base: AnswerConfig,
  { path, method, chance = 1, ...answer }: NonNullable<AnswerConfig['stubs']>[number],
  pointer: string,
  report: Report<ScenarioCode>,
): Stub {
  const start = path?.endsWith('*') === true ? path.slice(0, -1) : null;
  const isPath = (asked: string): boolean =>
    path === undefined || (start === null ? asked === path : asked.startsWith(start));
  return {
    answering: compileAnswer(base, answer, pointer, report),
    chance,
    matches: (asked) => isPath(asked.target.split('?', 1)[0]!) && (method ?? asked.method) === asked.method,
  };
}

/** Compiles one response; those of a sequence inherit from the members beside the sequence. */
function compileAnswer(
  base: AnswerConfig,
  given: unknown,
  pointer: string,
  report: Report<ScenarioCode>,
): Answering {
  const config = readAnswer(given, pointer, report);
  const merged: AnswerConfig = { ...base, ...config };
  const headers: string[] = [];
  for (const [name, values] of Object.entries({ ...base.headers, ...config.headers })) {
    for (const value of Array.isArray(values) ? values : [values]) {
      if (!isFieldName(name) || !isFieldValue(String(value))) {
        report('scenario.bad_answer', pointerTo(`${pointer}/headers`, name), `'${name}' is not a header`);
      } else headers.push(name.toLowerCase(), String(value));
    }
  }
  const body = bodyOf(merged);
  const isJson = merged.json !== undefined || merged.key_set === true;
  if (isJson && merged.body === undefined && !headers.includes('content-type')) {
    headers.push('content-type', 'application/json');
  }
  return {
    status: merged.status ?? 200,
    headers,
    body,
    latencyMs: latencyOf(merged.latency),
    fault: merged.fault ?? null,
  };
}

function bodyOf({ body, json, fault, key_set: isKeySet }: AnswerConfig): Uint8Array {
  if (isKeySet === true) return new TextEncoder().encode(JSON.stringify(keySet()));
  if (body !== undefined) return new TextEncoder().encode(body);
  if (json !== undefined) return new TextEncoder().encode(JSON.stringify(json));
  return fault === 'half' ? HALF_BODY : PLAIN_ANSWER.body;
}

function latencyOf(latency: AnswerConfig['latency']): Answering['latencyMs'] {
  if (latency === undefined) return 0;
  if (typeof latency === 'string') return durationMs(latency);
  return { fromMs: durationMs(latency.from), toMs: durationMs(latency.to) };
}

function readAnswer(given: unknown, pointer: string, report: Report<ScenarioCode>): AnswerConfig {
  if (typeof given === 'number') {
    if (!Number.isInteger(given) || given < 101 || given > 599) {
      report('scenario.bad_answer', pointer, `${given} is not a status from 101 to 599`);
    }
    return { status: given };
  }
  if (typeof given === 'string') {
    const fault = FAULTS.find((each) => each === given);
    if (fault !== undefined) return { fault };
    report('scenario.bad_answer', pointer, `${quoted(given)} is not a response`, {
      ...meantWord(suggest(given, FAULTS)),
      notes: [`one of: ${FAULTS.join(', ')}, a status, or a map`],
    });
    return {};
  }
  const sound = shaped(ANSWER_SHAPE, given, pointer, (at, departure) => {
    const message =
      departure.kind === 'unknown_key'
        ? `unknown key ${quoted(departure.key)} in a response`
        : 'this is not a response of an upstream';
    report(
      'scenario.bad_answer',
      departure.kind === 'unknown_key' ? pointerTo(at, departure.key) : at,
      message,
    );
  }) as AnswerConfig | undefined;
  if (sound?.sequence !== undefined && pointer.includes('/sequence/')) {
    report('scenario.bad_answer', `${pointer}/sequence`, 'a sequence cannot contain another one');
  }
  return sound ?? {};
}
