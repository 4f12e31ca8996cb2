import { meantWord } from '../../diagnostics/meant.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import { isBodylessStatus } from '../../http/bodyless.ts';
import { isFieldName, isFieldValue } from '../../http/fields.ts';
import { isFraming, isHopByHop } from '../../http/forwarding.ts';
import type { SoundConfig, Report } from './report.ts';
import { isHostProblem, readHostAndPort } from './hosts.ts';
import { childUses } from './references.ts';
import { type SoundBackend, backendsOf } from './routes_of.ts';

const KINDS = ['static', 'http_response', 'tunnel_group', 'weighted', 'failover'] as const;
const EXAMPLE_PORT = 80;

/** Checks each backend by its kind. Names and nesting are checked elsewhere. */
export function checkBackends(config: SoundConfig, report: Report): void {
  for (const { name, pointer, thing: backend } of backendsOf(config)) {
    const kinds = KINDS.filter((kind) => kind in backend);
    if (kinds.length !== 1) {
      const message = `backend ${quoted(name)} ${kinds.length === 0 ? 'has no kind' : `has several kinds: ${kinds.join(' and ')}`}`;
      report('edge.backend_kind', pointer, message, {
        at: 'key',
        notes: [`exactly one of: ${KINDS.join(', ')}`],
      });
    }
    checkStatic(backend.static, `${pointer}/static`, report);
    checkHttpResponse(backend.http_response, `${pointer}/http_response`, report);
    warnAboutNoChoice(backend, pointer, report);
  }
}

function checkStatic(config: SoundBackend['static'], pointer: string, report: Report): void {
  if (config?.address === undefined) return;
  const answer = readHostAndPort(config.address, EXAMPLE_PORT);
  if (isHostProblem(answer)) {
    const { message, meant } = answer;
    report('edge.bad_address', `${pointer}/address`, message, meantWord(meant));
  } else if (answer.port === 0)
    report('edge.bad_address', `${pointer}/address`, 'port 0 cannot be connected to');
}

function checkHttpResponse(config: SoundBackend['http_response'], pointer: string, report: Report): void {
  const { headers, status_code: status, body } = config ?? {};
  const known = new Set<string>();
  for (const [name, value] of Object.entries(headers ?? {})) {
    const isTwice = known.size === known.add(name.toLowerCase()).size;
    const message = isTwice
      ? `${quoted(name)} is set twice; names are case-insensitive`
      : headerProblem(name, value ?? '');
    if (message !== null)
      report('edge.bad_header', pointerTo(`${pointer}/headers`, name), message, { at: 'key' });
  }
  if (status !== undefined && isBodylessStatus(status) && body !== undefined && body !== '') {
    report('edge.body_not_sent', `${pointer}/body`, `a response with status ${status} has no body`);
  }
}

function headerProblem(name: string, value: string): string | null {
  const lower = name.toLowerCase();
  if (!isFieldName(name)) return `${quoted(name)} is not a header name`;
  if (isFraming(lower)) return `${quoted(name)} is about message framing, which only the edge may set`;
  if (isHopByHop(lower)) return `${quoted(name)} is a hop-by-hop header and is never passed on`;
  return isFieldValue(value)
    ? null
    : `the value of ${quoted(name)} has characters that are not allowed in a header`;
}

function warnAboutNoChoice({ weighted, failover }: SoundBackend, pointer: string, report: Report): void {
  if (weighted !== undefined && Object.values(weighted).every((weight) => weight === 0)) {
    const message = Object.keys(weighted).length === 0 ? 'there are no children' : 'all weights are zero';
    report('edge.backend_without_choice', `${pointer}/weighted`, `${message}, so no child is ever chosen`, {
      at: 'key',
    });
  }
  if (failover?.length === 0) {
    const message = 'there are no children to fail over to';
    report('edge.backend_without_choice', `${pointer}/failover`, message, { at: 'key' });
  }
}

/**
 * Checks that no weighted backend leads to another weighted one, no failover to failover, and that there are no loops.
 */
export function checkNesting(config: SoundConfig, report: Report): void {
  const order = Object.keys(config.backends ?? {});
  for (const { name, pointer, thing } of backendsOf(config)) {
    const kind = kindOf(thing);
    if (kind === null) continue;
    for (const use of childUses(pointer, thing)) {
      const path = pathToKind(config, use.name, kind);
      if (path === null) continue;
      const last = path.at(-1)!;
      const shownPath = [name, ...path].join(' → ');
      if (last === name) {
        // A loop is reported once, at its first backend.
        const isFirst = path.every((step) => order.indexOf(step) >= order.indexOf(name));
        if (isFirst)
          report(
            'edge.backend_cycle',
            use.pointer,
            `backend ${quoted(name)} leads back to itself: ${shownPath}`,
            { at: use.at },
          );
      } else {
        const message = `a ${kind} backend cannot lead to another ${kind} backend: ${shownPath}`;
        report('edge.nested_backend', use.pointer, message, { at: use.at });
      }
    }
  }
}

function kindOf(backend: SoundBackend): 'weighted' | 'failover' | null {
  if (backend.weighted !== undefined) return 'weighted';
  return backend.failover === undefined ? null : 'failover';
}

/** The path from a backend to the nearest one of a kind, both included; null without one. */
function pathToKind(config: SoundConfig, from: string, kind: 'weighted' | 'failover'): string[] | null {
  const seen = new Set([from]);
  const open: string[][] = [[from]];
  for (let path = open.shift(); path !== undefined; path = open.shift()) {
    const backend = config.backends?.[path.at(-1)!];
    if (backend === undefined) continue;
    if (kindOf(backend) === kind) return path;
    for (const { name } of childUses('', backend)) {
      if (!seen.has(name)) open.push([...path, name]);
      seen.add(name);
    }
  }
  return null;
}
