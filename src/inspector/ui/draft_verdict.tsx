/** What the draft would decide: for the chosen request, and for the last ones. */
import { Steps } from '../../pages/explanation.tsx';
import { countText, durationText } from '../../pages/units.ts';
import { visibleLine } from '../../pages/visible.ts';
import type { DiagnosticJson } from '../../diagnostics/json.ts';
import type { DraftAnswer, DraftVerdict, Verdict } from '../wire_editing.ts';
import { answer, failure, isDeciding, isExplained } from './draft.ts';
import { places, wanted } from './places.ts';
import { hello, selected, store } from './state.ts';

const ROWS = 200;

export function DraftVerdictView() {
  const now = answer.value;
  return (
    <div
      class="verdicts"
      aria-busy={isDeciding.value}
      tabIndex={0}
      role="region"
      aria-label="What the draft would change"
    >
      <p class="status" role="status">
        {statusOf(now)}
      </p>
      {failure.value !== null && (
        <p class="failure" role="alert">
          {failure.value}
        </p>
      )}
      <Findings list={now?.diagnostics ?? []} />
      {now !== null && now.unknownFor.length > 0 && <Uncertain list={now.unknownFor} />}
      {now?.one && <One verdict={now.one} />}
      {now !== null && now.changed.length > 0 && <Changed list={now.changed} />}
    </div>
  );
}

function statusOf(now: DraftAnswer | null): string {
  if (hello.value?.can.draft !== true) return 'This server does not decide drafts.';
  if (now === null) return 'Deciding …';
  if (!now.decided) return 'The draft has errors: nothing was decided.';
  const { looked, changed, unknown } = now.counts;
  const which = looked === 1 ? 'the last request' : `the last ${countText(looked)} requests`;
  const result =
    changed === 0 ? `None of ${which} would change` : `${countText(changed)} of ${which} would change`;
  const rest = unknown === 0 ? '' : `, ${countText(unknown)} are uncertain`;
  return `${result}${rest}. Decided in ${durationText(now.tookMs)}.`;
}

function Uncertain({ list }: { readonly list: DraftAnswer['unknownFor'] }) {
  return (
    <p class="quiet">
      Uncertain because of{' '}
      {list
        .map(({ cause, count }) => `${visibleLine(CAUSES[cause] ?? cause, 80)} (${countText(count)})`)
        .join(', ')}
      .
    </p>
  );
}

// table: causes whose names in reports are short
const CAUSES: Readonly<Record<string, string>> = {
  counters: 'counters, whose earlier requests are not kept or had no answer',
};

function Findings({ list }: { readonly list: readonly DiagnosticJson[] }) {
  if (list.length === 0) return null;
  return (
    <ul class="findings">
      {list.map(({ code, message, hint, severity, file, range }, index) => (
        <li key={index} class={severity}>
          <button
            type="button"
            class="place"
            disabled={file === null}
            onClick={() => void (wanted.value = { file: file!, line: range?.start.line ?? 1 })}
          >
            {message}
          </button>
          {hint !== null && <span class="hint"> {hint}</span>} <code>{code}</code>
        </li>
      ))}
    </ul>
  );
}

function One({ verdict }: { readonly verdict: DraftVerdict }) {
  const { before, after, differences, unknown, explanation } = verdict;
  return (
    <section>
      <h2>{titleOf(verdict.seq)}</h2>
      <div class="sides">
        <Side title="As it was" verdict={before} />
        <Side title="With the draft" verdict={after} />
      </div>
      <Sentences list={differences} />
      {unknown.length > 0 && (
        <p class="flag">Uncertain: {unknown.map((each) => visibleLine(each, 300)).join('; ')}</p>
      )}
      <details
        open={isExplained.value}
        onToggle={({ currentTarget }) => void (isExplained.value = currentTarget.open)}
      >
        <summary>Explanation with the draft</summary>
        {isExplained.value && explanation !== null && (
          <Steps steps={explanation.steps} decidedBy={explanation.decidedBy} places={places} />
        )}
      </details>
    </section>
  );
}

function titleOf(seq: number): string {
  const row = store.get(seq);
  if (row === undefined || row.kind === 'connection') return `#${seq}`;
  return `${visibleLine(row.method, 30)} ${visibleLine(row.target, 120)}`;
}

function Side({ title, verdict }: { readonly title: string; readonly verdict: Verdict }) {
  const { status, by, code, backend, place } = verdict;
  return (
    <div class={`side ${verdict.verdict}`}>
      <h3>{title}</h3>
      <p>
        <StatusCode status={status} /> {verdict.verdict === 'pass' ? 'passes' : 'is stopped'}
        {backend !== null && verdict.verdict === 'pass' && ` → ${backend}`}
      </p>
      <p class="quiet">
        {by} <code>{code}</code>{' '}
        {place !== null && (
          <button type="button" class="place" onClick={() => places.show(place)}>
            {place.file}:{place.line}
          </button>
        )}
      </p>
    </div>
  );
}

function StatusCode({ status }: { readonly status: number | null }) {
  return <span class={`code c${Math.floor((status ?? 0) / 100)}`}>{status ?? '–'}</span>;
}

function Sentences({ list }: { readonly list: readonly string[] }) {
  if (list.length === 0) return null;
  return (
    <ul class="differences">
      {list.map((each, index) => (
        <li key={index}>{visibleLine(each, 500)}</li>
      ))}
    </ul>
  );
}

/** Those of the last requests that would change, side by side. */
function Changed({ list }: { readonly list: readonly DraftVerdict[] }) {
  return (
    <table class="changed">
      <caption>Requests that would change</caption>
      <thead>
        <tr>
          <th scope="col">Request</th>
          <th scope="col">As it was</th>
          <th scope="col">With the draft</th>
        </tr>
      </thead>
      <tbody>
        {list.slice(0, ROWS).map((each) => (
          <tr key={each.seq}>
            <th scope="row">
              <button type="button" class="place" onClick={() => void (selected.value = each.seq)}>
                {titleOf(each.seq)}
              </button>
            </th>
            <td>
              <StatusCode status={each.before.status} /> <span class="quiet">{each.before.code}</span>
            </td>
            <td>
              <StatusCode status={each.after.status} />{' '}
              <span class="quiet">
                {each.after.code} {each.unknown.length > 0 && '(uncertain)'}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
