import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { meantWord } from '../../diagnostics/meant.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import type { More, Report } from '../../diagnostics/report.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import type { ScenarioCode } from './codes.ts';
import { type Row, placeholdersOf } from './expand.ts';

/**
 * Reports placeholders of a case that nothing fills in although a name is meant: one that other rows have, or one
 * with a typing error. Others are kept, because texts may have braces of their own.
 */
export function checkPlaceholders(
  given: unknown,
  pointer: string,
  rows: readonly (Row | null)[],
  variables: Row,
  report: Report<ScenarioCode>,
): void {
  const names = [...new Set([variables, ...rows].flatMap((row) => Object.keys(row ?? {})))];
  if (names.length === 0 || typeof given !== 'object' || given === null) return;
  const { each: _rows, ...rest } = given as Row;
  const captured = capturedIn(rest);
  for (const { name, at, within } of placesIn(rest, pointer)) {
    if (Object.hasOwn(variables, name) || captured.has(name)) continue;
    if (names.includes(name)) {
      const number = rows.findIndex((row) => row !== null && !Object.hasOwn(row, name)) + 1;
      const message = `row ${number} has no ${quoted(name)}, so '{${name}}' stays as it is`;
      if (number > 0) report('scenario.unknown_placeholder', at, message, { within });
      continue;
    }
    const meant = suggest(name, names);
    if (meant === undefined) continue;
    const message = `there is no value ${quoted(name)}, so '{${name}}' stays as it is`;
    report('scenario.unknown_placeholder', at, message, { within, ...meantWord(`{${meant}}`) });
  }
}

interface Placed {
  readonly name: string;
  readonly at: string;
  readonly within: NonNullable<More['within']>;
}

function* placesIn(value: unknown, at: string): Generator<Placed> {
  if (typeof value === 'string') {
    for (const { name, span } of placeholdersOf(value)) yield { name, at, within: { span, decoded: value } };
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* placesIn(item, pointerTo(at, key));
  }
}

/** The names that steps of a timeline capture. */
function capturedIn({ timeline }: Row): ReadonlySet<string> {
  const steps = Array.isArray(timeline)
    ? (timeline as readonly ({ readonly capture?: object } | null)[])
    : [];
  return new Set(steps.flatMap((step) => Object.keys(step?.capture ?? {})));
}
