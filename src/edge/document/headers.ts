import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../config_file/message_text.ts';
import { headerEditProblems } from '../../filters/header_edits/algorithm.ts';
import type { SoundConfig } from './edge_shape.ts';
import type { Report } from './report.ts';
import { routesOf } from './routes_of.ts';

interface SoundLists {
  readonly add?: Readonly<Record<string, string | undefined>> | undefined;
  readonly remove?: readonly (string | undefined)[] | undefined;
}

/** Checks the header edits of all routes. */
export function checkHeaders(config: SoundConfig, report: Report): void {
  for (const { pointer, thing: route } of routesOf(config)) {
    checkSide(route.request_headers, 'request', `${pointer}/request_headers`, report);
    checkSide(route.response_headers, 'response', `${pointer}/response_headers`, report);
  }
}

function checkSide(
  lists: SoundLists | undefined,
  side: 'request' | 'response',
  pointer: string,
  report: Report,
): void {
  if (lists === undefined) return;
  const { add = {}, remove = [] } = lists;
  for (const [name, value] of Object.entries(add)) {
    if (value?.includes('${') !== true) continue;
    const message = `expressions such as ${quoted(interpolation(value))} in header values are not supported in this version`;
    report('edge.interpolation_not_available', pointerTo(`${pointer}/add`, name), message);
  }
  const problems = headerEditProblems(
    {
      // An invalid value, or an expression, is reported elsewhere; its name still counts.
      add: Object.entries(add).map(([name, value]) => [
        name,
        value === undefined || value.includes('${') ? 'x' : value,
      ]),
      remove: remove.filter((name) => name !== undefined),
    },
    side,
  );
  const told = new Set<number>();
  for (const { where, name, reason, message } of problems) {
    if (where === 'add') {
      report('edge.bad_header', pointerTo(`${pointer}/add`, name), message, {
        at: reason === 'invalid_value' ? 'value' : 'key',
      });
      continue;
    }
    // The same name twice in the list is the same problem in two places.
    const index = remove.findIndex((other, at) => other === name && !told.has(at));
    told.add(index);
    report('edge.bad_header', pointerTo(`${pointer}/remove`, Math.max(index, 0)), message);
  }
}

function interpolation(value: string): string {
  return /\$\{[^}]*\}?/.exec(value)?.[0] ?? value;
}
