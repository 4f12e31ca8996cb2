import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Report } from '../diagnostics/report.ts';
import { type Row, filled } from './document/expand.ts';
import type { ScenarioCode } from './document/codes.ts';
import { type RequestSetting, prepareRequest } from './document/requests.ts';
import type { CaptureConfig, SendConfig } from './document/schema.ts';
import { isPath, valueAt } from './expect/json_paths.ts';
import type { Mismatch } from './result.ts';
import { fieldValues } from './expect/outcome.ts';
import type { PreparedRequest } from './prepared_request.ts';
import type { SimulatedRequest } from './simulated_request.ts';

/** The values that steps of a timeline have captured, by name. */
export type Captured = Map<string, unknown>;

/** Takes values of a response for later steps; what is absent is a mismatch. */
export type Capturing = (simulated: SimulatedRequest, captured: Captured) => Mismatch[];

/** Compiles `capture`: each name with the header, the cookie or the JSON path that it stands for. */
export function compileCaptures(
  config: Readonly<Record<string, CaptureConfig>>,
  pointer: string,
  report: Report<ScenarioCode>,
): Capturing {
  const parts = Object.entries(config).flatMap(([name, from]) => {
    const at = pointerTo(pointer, name);
    if (Object.keys(from).length === 1 && (from.json === undefined || isPath(from.json)))
      return [{ name, at, from }];
    report(
      'scenario.bad_request',
      at,
      'a value comes from one of: header, cookie, json (a path such as $.a.b[0])',
    );
    return [];
  });
  return ({ response }, captured) =>
    parts.flatMap(({ name, at, from }) => {
      const value = capturedFrom(from, response);
      if (value !== undefined) captured.set(name, value);
      return value === undefined
        ? [{ what: `capture.${name}`, expected: 'a value', received: 'absent', pointer: at }]
        : [];
    });
}

function capturedFrom(
  { header, cookie, json }: CaptureConfig,
  response: SimulatedRequest['response'],
): unknown {
  if (header !== undefined) return fieldValues(response.headers, header)[0];
  if (cookie !== undefined) {
    const set = fieldValues(response.headers, 'set-cookie').find((each) => each.startsWith(`${cookie}=`));
    return set?.slice(cookie.length + 1).split(';', 1)[0];
  }
  try {
    return valueAt(JSON.parse(new TextDecoder().decode(response.body)), json!);
  } catch {
    return undefined;
  }
}

/** The request of a step; with captured values in it, it is made when it is sent. */
export function requestOfStep(
  send: SendConfig,
  pointer: string,
  setting: RequestSetting,
  names: readonly string[],
  captured: Captured,
): PreparedRequest | null {
  const text = JSON.stringify(send);
  const used = names.filter((name) => text.includes(`{${name}}`));
  const made = (values: Row, now: RequestSetting) =>
    prepareRequest(filled(send, values) as SendConfig, pointer, now);
  if (used.length === 0) return prepareRequest(send, pointer, setting);
  const ready = made(Object.fromEntries(used.map((name) => [name, 'captured'])), setting);
  if (ready === null) return null;
  return {
    ...ready,
    signedAt: (nowMs) => {
      const request = made(Object.fromEntries(captured), { ...setting, startMs: nowMs }) ?? ready;
      return request === ready ? ready : (request.signedAt?.(nowMs) ?? request);
    },
  };
}
