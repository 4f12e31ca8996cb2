import type { LocatedStep } from '../../edge/explain.ts';
import type { Reply } from '../../engine/questions.ts';
import type { Exchange } from '../../engine/exchange.ts';
import { isRefusalPage } from '../../engine/refusals.ts';
import { escapeHtml } from '../../http/ascii.ts';
import { firstValue, hasField } from '../../http/fields.ts';
import type { PolicyCode } from '../../policy/verdicts.ts';
import { printable } from '../../diagnostics/display.ts';
import { jsonWithoutSecrets, redactTexts } from '../../replay/redact_text.ts';
import type { InspectorContext } from './context.ts';

/** Clients on this machine: others get what they get in production. */
const LOOPBACK = /^(?:127\.|::1$)/;
const FIELD_UNITS = 300;
const DENIED: PolicyCode = 'traffic_policy.denied';

/**
 * Refusals of the edge itself in development: a browser gets a page that says which filter and which line decided; other
 * clients get the same body as in production, and the reason as a field. Answers of upstreams and of policies stay, except
 * for the empty one of `deny`, which says nothing at all.
 */
export function errorPages(
  context: InspectorContext,
  urlOf: () => string,
): (exchange: Exchange, reply: Reply) => Reply {
  return (exchange, reply) => {
    const { body, close } = reply;
    if (close || body === 'upstream' || !('text' in body)) return reply;
    if (!LOOPBACK.test(exchange.connection.client.text)) return reply;
    const step = context.watch.edge.explain(exchange).decidedBy;
    if (!isRefusalPage(body.text) && !(body.text === '' && step.code === DENIED)) return reply;
    const refused = factsOf(exchange, reply, step, context, urlOf());
    const headers = [...reply.headers, 'edgeproof-reason', fieldOf(refused)];
    if (refused.link !== null) headers.push('edgeproof-inspector', refused.link);
    const accepts = firstValue(exchange.head.headers, 'accept') ?? '';
    const isBrowser = accepts.toLowerCase().includes('text/html');
    if (!isBrowser) return { ...reply, headers, body };
    if (!hasField(headers, 'content-type'))
      headers.push('content-type', 'text/html; charset=utf-8', 'cache-control', 'no-store');
    return { ...reply, headers, body: { text: pageOf(refused) } };
  };
}

interface Refused {
  readonly status: number;
  readonly step: LocatedStep;
  readonly place: string | null;
  /** Facts of the reason, such as the cause of a failure. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly link: string | null;
}

function factsOf(
  exchange: Exchange,
  reply: Reply,
  decidedBy: LocatedStep,
  context: InspectorContext,
  url: string,
): Refused {
  const { watch, redaction } = context;
  const step = redactTexts(decidedBy, redaction());
  const facts = Object.entries(step.detail).map(([name, value]) => [name, String(value)] as const);
  const endpoint = exchange.attempts.at(-1)?.endpoint;
  if (endpoint?.kind === 'static' && endpoint.tunnel === undefined)
    facts.push(['address', `${endpoint.host}:${endpoint.port}`]);
  const place = step.place ?? (endpoint?.kind === 'static' ? backendPlace(endpoint.id, context) : null);
  const seq = watch.keptOf(exchange)?.seq ?? null;
  const { secrets } = redaction();
  const clean = (text: string): string =>
    JSON.parse(jsonWithoutSecrets(JSON.stringify(text), secrets)) as string;
  return {
    status: reply.status,
    step,
    place: place === null ? null : `${place.file}:${place.line}:${place.column}`,
    facts: facts.map(([name, value]) => [name, clean(value)]),
    link: seq === null || url === '' ? null : `${url}#exchange=${seq}`,
  };
}

/** Where the backend is that failed: the step of an upstream has no place of its own. */
function backendPlace(id: string, { watch }: InspectorContext): LocatedStep['place'] {
  return watch.edge.locate(`/backends/${id.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

/** One line of visible ASCII: `ip_restriction ip.denied edge.yaml:12:9`. */
function fieldOf({ step, place, facts }: Refused): string {
  const details = facts.map(([name, value]) => `${name}=${value}`).join(' ');
  const text = [step.module, step.code, place ?? '', details].filter((part) => part !== '').join(' ');
  return text
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, FIELD_UNITS)
    .trim();
}

function shown(text: string): string {
  return escapeHtml(printable(text));
}

function pageOf({ status, step, place, facts, link }: Refused): string {
  const rows = [
    ['decided by', step.module],
    ['reason', step.code],
    ...(place === null ? [] : [['at', place] as const]),
    ...facts,
  ].map(([name, value]) => `<dt>${shown(name)}</dt><dd>${shown(value)}</dd>`);
  const more =
    link === null ? '' : `<p><a href="${escapeHtml(link)}">See this request in the inspector</a></p>\n`;
  return (
    `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${status} ${shown(step.message)}</title>\n` +
    '<style>:root{color-scheme:light dark;background:Canvas;color:CanvasText}body{font:1rem/1.5 system-ui,sans-serif;margin:2rem auto;max-width:44rem;padding:0 1rem}' +
    'dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}dt{opacity:.75}dd{margin:0;overflow-wrap:anywhere;font-family:ui-monospace,monospace}</style></head>\n' +
    `<body><main><h1>${status}: ${shown(step.message)}</h1>\n<dl>${rows.join('')}</dl>\n${more}` +
    '<p>This page is shown on this machine only, by a development server.</p></main></body></html>\n'
  );
}
