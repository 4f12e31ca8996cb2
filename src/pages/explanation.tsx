/** Why an exchange went as it did, step by step. Everything is text: nothing of a request becomes markup. */
import type { LocatedStep, Place } from '../edge/explain.ts';
import type { ExpressionDetail, PartDetail, RuleDetail } from '../inspector/wire_detail.ts';
import { durationText } from './units.ts';
import { visible, visibleLine } from './visible.ts';

/** A step; what an inspector measured and evaluated besides is optional. */
interface ShownStep extends LocatedStep {
  readonly tookMicros?: number | null;
  readonly rules?: readonly RuleDetail[];
}

type InnerStep = NonNullable<LocatedStep['inner']>[number];

/** What the page does with places, if it can: opens one, and knows the line of the file that is there. */
export interface Places {
  readonly show: (place: Pick<Place, 'file' | 'line'>) => void;
  /** The text of the line; null if the file is not known. */
  readonly lineAt?: (place: Place) => string | null;
}

interface Props {
  readonly steps: readonly ShownStep[];
  /** Index of the step that decided. */
  readonly decidedBy: number;
  readonly places: Places | null;
}

export function Steps({ steps, decidedBy, places }: Props) {
  return (
    <ol class="steps">
      {steps.map((step, index) => (
        <li key={index} class={index === decidedBy ? `deciding ${step.verdict}` : ''}>
          {typeof step.tookMicros === 'number' && (
            <span class="took">{durationText(step.tookMicros / 1000)}</span>
          )}
          <Line name={step.module} message={step.message} place={step.place} places={places} />
          <Facts detail={step.detail} />
          <Source place={index === decidedBy ? step.place : null} places={places} />
          <Inner step={step} places={places} />
        </li>
      ))}
    </ol>
  );
}

/** Rules with their values where they are known; otherwise the steps inside the module. */
function Inner({
  step: { inner = [], rules },
  places,
}: {
  readonly step: ShownStep;
  readonly places: Places | null;
}) {
  if (rules !== undefined && rules.length > 0) {
    const named = new Set(rules.map(({ pointer }) => pointer));
    const actions = inner.filter(({ kind, pointer }) => kind !== 'rule' || !named.has(pointer));
    return (
      <>
        <ul class="within" aria-label="Rules">
          {rules.map((rule, index) => (
            <Rule
              key={index}
              rule={rule}
              actions={actions.filter(({ pointer }) => pointer.startsWith(`${rule.pointer}/`))}
              places={places}
            />
          ))}
        </ul>
        <InnerSteps
          steps={actions.filter(
            ({ pointer }) => !rules.some((rule) => pointer.startsWith(`${rule.pointer}/`)),
          )}
          places={places}
        />
      </>
    );
  }
  return <InnerSteps steps={inner} places={places} />;
}

/** With the name of the rule or the action, where it has one. */
const innerText = ({ name, message }: InnerStep): string => (name === '' ? message : `${name}: ${message}`);

function InnerSteps({
  steps,
  places,
}: {
  readonly steps: readonly InnerStep[];
  readonly places: Places | null;
}) {
  if (steps.length === 0) return null;
  return (
    <ol class="within">
      {steps.map((each, index) => (
        <li key={index}>
          <Line name={each.code} message={innerText(each)} place={each.place} places={places} />
        </li>
      ))}
    </ol>
  );
}

function Rule({
  rule: { name, place, applied, reason, expressions },
  actions,
  places,
}: {
  readonly rule: RuleDetail;
  readonly actions: readonly InnerStep[];
  readonly places: Places | null;
}) {
  return (
    <li class={applied ? 'applied' : 'unapplied'}>
      <span aria-hidden="true">{applied ? '✓' : '·'}</span> <strong>{visibleLine(name, 200)}</strong>{' '}
      {applied ? 'applied' : 'did not apply'} <PlaceLink place={place} places={places} />
      {reason !== null && <div class="why">{visibleLine(reason, 2000)}</div>}
      {expressions.map((expression, index) => (
        <Expression key={index} expression={expression} />
      ))}
      <InnerSteps steps={actions} places={places} />
    </li>
  );
}

/** The source of an expression with the part that decided marked, and the values of all its parts. */
function Expression({
  expression: { source, value, decided, parts },
}: {
  readonly expression: ExpressionDetail;
}) {
  return (
    <div class="expression">
      <code class="source">
        {decided === null ? (
          visible(source)
        ) : (
          <>
            {visible(source.slice(0, decided.start))}
            <mark>{visible(source.slice(decided.start, decided.end))}</mark>
            {visible(source.slice(decided.end))}
          </>
        )}{' '}
        {value !== null && <span class={classOf(value)}>→ {visibleLine(value, 500)}</span>}
      </code>
      {parts.length > 0 && (
        <table class="part_values">
          <caption class="hidden">Values of the parts</caption>
          <tbody>
            {parts.map((part, index) => (
              <Part
                key={index}
                source={source}
                part={part}
                depth={depthOf(part, parts)}
                isDecided={isSame(part, decided)}
              />
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

const isSame = (part: PartDetail, other: PartDetail | null): boolean =>
  other !== null && part.start === other.start && part.end === other.end;

/** How many parts are around a part. */
function depthOf({ start, end }: PartDetail, parts: readonly PartDetail[]): number {
  const length = end - start;
  return parts.filter((other) => other.start <= start && other.end >= end && other.end - other.start > length)
    .length;
}

function Part({
  source,
  part: { start, end, value, skipped },
  depth,
  isDecided,
}: {
  readonly source: string;
  readonly part: PartDetail;
  readonly depth: number;
  readonly isDecided: boolean;
}) {
  const text = visibleLine(source.slice(start, end), 300);
  return (
    <tr>
      <th scope="row">
        {'\u00a0\u00a0'.repeat(Math.min(depth, 12))}
        {isDecided ? <mark>{text}</mark> : text}
      </th>
      <td class={value === null ? 'skipped' : classOf(value)}>
        {value === null ? (skipped ?? 'not evaluated') : visibleLine(value, 500)}
      </td>
    </tr>
  );
}

function classOf(value: string): string {
  if (value === 'true') return 'true';
  return value === 'false' || value.startsWith('error:') ? 'false' : '';
}

function Line({
  name,
  message,
  place,
  places,
}: {
  readonly name: string;
  readonly message: string;
  readonly place: Place | null;
  readonly places: Places | null;
}) {
  return (
    <>
      <code>{visibleLine(name, 200)}</code> {visibleLine(message, 2000)}{' '}
      <PlaceLink place={place} places={places} />
    </>
  );
}

/** The facts of a reason, such as the address that was compared. */
function Facts({ detail }: { readonly detail: LocatedStep['detail'] }) {
  const facts = Object.entries(detail).filter(([, value]) => value !== null && value !== '');
  if (facts.length === 0) return null;
  return (
    <span class="quiet facts">
      {' '}
      {facts.map(([name, value]) => `${name}=${visibleLine(String(value), 300)}`).join(' ')}
    </span>
  );
}

/** A place in a file, which leads to the editor where there is one. */
function PlaceLink({ place, places }: { readonly place: Place | null; readonly places: Places | null }) {
  if (place === null) return null;
  if (places === null)
    return (
      <code class="quiet">
        {place.file}:{place.line}
      </code>
    );
  return (
    <button type="button" class="place" onClick={() => places.show(place)}>
      {place.file}:{place.line}
    </button>
  );
}

function Source({ place, places }: { readonly place: Place | null; readonly places: Places | null }) {
  const line = place === null ? null : (places?.lineAt?.(place) ?? null);
  if (line === null || line.trim() === '') return null;
  return (
    <code class="source">
      <span aria-hidden="true">{place!.line} │ </span>
      {visibleLine(line.trim(), 500)}
    </code>
  );
}
