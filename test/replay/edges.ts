import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { hasErrors } from '../../src/diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../../src/diagnostics/render.ts';
import { type Edge, createEdge } from '../../src/edgeproof.ts';
import { type ReplayedEdge, replayedEdge } from '../../src/replay/decide.ts';
import type { LogRecord } from '../../src/replay/log_record.ts';
import { factsOf, isEventLine } from '../../src/replay/event_facts.ts';
import { readEvent } from '../../src/replay/read_event.ts';

/** An edge with one route, the modules of a test on it. */
export function configOf(modules: Readonly<Record<string, unknown>>, rest: object = {}): object {
  return {
    backends: {
      app: { static: { address: 'localhost:3000' } },
      other: { static: { address: 'localhost:3001' } },
    },
    ...rest,
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' }, ...modules }],
        },
      },
    },
  };
}

export function policyOf(
  rules: readonly object[],
  response: readonly object[] = [],
): Readonly<Record<string, unknown>> {
  const value = { on_http_request: rules, ...(response.length > 0 && { on_http_response: response }) };
  return { traffic_policy: { value: JSON.stringify(value) } };
}

/** A rule that denies if its expressions are true. */
export function deny(...expressions: readonly string[]): object {
  return { expressions, actions: [{ type: 'deny', config: { status_code: 403 } }] };
}

export function checked(config: object): EdgeConfig {
  const found = checkWholeEdge({ value: config });
  if (found.config === null || hasErrors(found.diagnostics)) {
    throw new Error(renderDiagnostics(found.diagnostics, { color: false }));
  }
  return found.config;
}

export function replayed(config: object): ReplayedEdge {
  return replayedEdge(checked(config));
}

export interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly clientIp?: string;
  readonly status?: number;
}

/** The event of a request at an edge, as a replay reads it. */
export function eventAt(edge: Edge, asked: Asked, line = 1): LogRecord {
  const { method = 'GET', path = '/', headers = {}, clientIp, status = 200 } = asked;
  const { event } = edge.decide(
    { method, url: `https://shop.test${path}`, headers },
    clientIp === undefined ? {} : { clientIp },
    { head: { status, headers: [] }, reused: false },
  );
  const value: unknown = JSON.parse(JSON.stringify(event));
  if (!isEventLine(value)) throw new Error('not an event');
  const record = readEvent(factsOf(value), line);
  if ('problem' in record) throw new Error(record.problem);
  return record;
}

export { createEdge };
