import { isAccepted } from '../../src/analysis/texts/automaton.ts';
import { cellsOf, type Cell } from '../../src/analysis/cells.ts';
import { isInside, numberOf } from '../../src/analysis/addresses.ts';
import type { Atom } from '../../src/analysis/atoms.ts';
import type { Diagram } from '../../src/analysis/diagram.ts';
import type { Model } from '../../src/analysis/model.ts';
import type { Outcome } from '../../src/analysis/outcome.ts';
import { cellDiagram } from '../../src/analysis/routed.ts';
import type { Witness } from '../../src/analysis/witness.ts';
import { headOf } from '../../src/engine/request_like.ts';
import { allValues } from '../../src/http/fields.ts';
import { parseSocketAddress } from '../../src/net/address.ts';
import { requestCookies } from '../../src/policy/env/cookies.ts';
import { urlOfRequest } from '../../src/policy/env/urls.ts';

type Head = Exclude<ReturnType<typeof headOf>, { readonly refused: unknown }>;

/** The time at which the engine is asked (`analysis/witness.ts`). */
const NOW_MS = Date.UTC(2026, 0, 1);

const diagrams = new WeakMap<Model, Map<Cell, Diagram<Outcome>>>();

/** The outcome of the class that a request is in; null if an atom of unknown value decides. */
export function ended(model: Model, request: Witness): Outcome | null {
  const head = headOf({ ...request });
  if ('refused' in head) return null;
  let known = diagrams.get(model);
  if (known === undefined) {
    known = new Map(Array.from(cellsOf([model]), (cell) => [cell, cellDiagram(model, cell, 0, 'own')]));
    diagrams.set(model, known);
  }
  for (const [cell, diagram] of known) {
    const isHere = (['host', 'path'] as const).every((field) =>
      cell.within(field).every(({ dfa, accepted }) => isAccepted(dfa, head[field]) === accepted),
    );
    if (isHere) return leafOf(diagram, head, request.clientIp);
  }
  return { end: 'refused', by: 'route.unknown_host', detail: '', effects: [] };
}

function leafOf(diagram: Diagram<Outcome>, head: Head, clientIp: string): Outcome | null {
  if ('leaf' in diagram) return diagram.leaf;
  const value = valueOf(diagram.atom, head, clientIp);
  if (value === null) {
    const [yes, no] = [diagram.yes, diagram.no].map((each) => leafOf(each, head, clientIp));
    return yes !== null && no !== null && yes?.end === no?.end && yes?.by === no?.by ? yes! : null;
  }
  return leafOf(value ? diagram.yes : diagram.no, head, clientIp);
}

/** Whether an atom is true for a request; null if the request alone does not say. */
function valueOf(atom: Atom, head: Head, clientIp: string): boolean | null {
  if (atom.kind === 'address') return isInside(atom.set, numberOf(parseSocketAddress(clientIp)!));
  if (atom.kind === 'opaque') return null;
  const text = textOf(atom.field.name, head);
  return text === null ? null : isAccepted(atom.dfa, text);
}

function textOf(field: string, head: Head): string | readonly string[] | undefined | null {
  if (field.includes(' after ')) return null;
  // Removed, not set, or not run.
  if (/\bunset (?:header|vars|actions)\b/.test(field))
    return field.startsWith('unset header ') ? [] : undefined;
  switch (field) {
    case 'path':
    case 'method':
    case 'host':
    case 'scheme':
      return head[field];
    case 'req.url.query':
      return head.query ?? '';
    case 'number time.now':
      return `${NOW_MS}000000`;
    case 'number conn.client_port':
      return '0';
    default:
      break;
  }
  const [kind, name] = field.split(' ');
  if (kind === 'header') return allValues(head.headers, name!);
  if (kind === 'query') return (urlOfRequest(head).queryParams[name!] ?? []) as readonly string[];
  if (kind === 'cookie')
    return ((requestCookies(head.headers)[name!] ?? []) as { value: string }[]).map(({ value }) => value);
  return null;
}
