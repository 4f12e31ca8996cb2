import { useMemo } from 'preact/hooks';
import { Steps } from '../../pages/explanation.tsx';
import { countText, durationText } from '../../pages/units.ts';
import { ValuesView } from '../../pages/values_view.tsx';
import { visible, visibleLine } from '../../pages/visible.ts';
import type { CasesReport, ReportedCase, ReportedFile, ReportedFinding } from '../data.ts';
import { Figures, Item, More, Rows } from './parts.tsx';
import { isFound, onlyBad, query } from './search.ts';

/** The cases of a run, file by file; each opens, passed ones, too. */
export function CasesView({ report: { figures, files, unexplained } }: { readonly report: CasesReport }) {
  const searched = query.value;
  const bad = onlyBad.value;
  const found = useMemo(() => files.map((file) => selected(file, searched, bad)), [files, searched, bad]);
  const count = found.reduce((sum, { cases }) => sum + cases.length, 0);
  return (
    <>
      <Figures figures={figures} />
      <p class="quiet" role="status">
        {count === 1 ? '1 case' : `${countText(count)} cases`} shown
        {unexplained > 0 && `; ${countText(unexplained)} passed cases have no explanation for their number`}
      </p>
      {found.map(
        (file) => (file.cases.length > 0 || file.findings.length > 0) && <File key={file.file} file={file} />,
      )}
    </>
  );
}

function selected(file: ReportedFile, searched: string, bad: boolean): ReportedFile {
  return {
    ...file,
    cases: file.cases.filter(
      (each) => (!bad || each.status === 'failed') && isFound(searched, () => [file.file, ...textsOf(each)]),
    ),
    findings: file.findings.filter(
      ({ severity, message, code }) =>
        (!bad || severity === 'error') && isFound(searched, () => [file.file, message, code]),
    ),
  };
}

function textsOf({ name, tags, status, skipped, mismatches, explained }: ReportedCase): string[] {
  return [
    name,
    status,
    skipped,
    ...tags.map((tag) => `@${tag}`),
    ...mismatches.flatMap(({ what, expected, received }) => [what, expected, received]),
    ...(explained === null ? [] : [explained.request, explained.steps[explained.decidedBy]?.message ?? '']),
  ];
}

function File({ file: { file, findings, cases } }: { readonly file: ReportedFile }) {
  const failed = cases.filter(({ status }) => status === 'failed').length;
  return (
    <section>
      <h2>
        {visibleLine(file)}{' '}
        <small class={failed > 0 ? 'bad' : 'quiet'}>
          {cases.length === 1 ? '1 case' : `${countText(cases.length)} cases`}
          {failed > 0 && `, ${countText(failed)} failed`}
        </small>
      </h2>
      {findings.length > 0 && (
        <ul class="findings">
          {findings.map((finding, index) => (
            <Finding key={index} finding={finding} />
          ))}
        </ul>
      )}
      <ul class="items">
        <More list={cases} each={(one) => <Case key={one.name} file={file} of={one} />} />
      </ul>
    </section>
  );
}

function Finding({
  finding: { severity, message, code, place, notes },
}: {
  readonly finding: ReportedFinding;
}) {
  return (
    <li class={severity}>
      <strong>{severity}</strong> {visibleLine(message)} <code>{code}</code>{' '}
      {place !== null && <code>{place}</code>}
      {notes.map((note, index) => (
        <div key={index} class="quiet">
          {visibleLine(note)}
        </div>
      ))}
    </li>
  );
}

// table: how the result of a case looks
const TONES = { passed: 'good', failed: 'bad', skipped: 'odd' } as const;

function Case({ file, of }: { readonly file: string; readonly of: ReportedCase }) {
  const { name, status, tags, tookMs, skipped, explained } = of;
  const decidedBy = explained?.steps[explained.decidedBy];
  return (
    <Item
      id={`${file} ${name}`}
      tone={TONES[status]}
      isOpenAtFirst={status === 'failed'}
      head={
        <>
          <span class="mark">{status}</span>
          <span class="name">{visibleLine(name)}</span>
          <span class="quiet">
            {tags.map((tag) => `@${tag} `)}
            {status === 'skipped' ? visibleLine(skipped) : durationText(tookMs)}
          </span>
          {decidedBy !== undefined && <span class="decided_by">{visibleLine(decidedBy.message)}</span>}
        </>
      }
    >
      {() => <CaseDetails file={file} of={of} />}
    </Item>
  );
}

function CaseDetails({ file, of }: { readonly file: string; readonly of: ReportedCase }) {
  const { mismatches, near, shares, explained, details, rerun, line } = of;
  return (
    <>
      {mismatches.map((each, index) => (
        <div key={index} class="mismatch">
          <strong>{visibleLine(each.what)}</strong>{' '}
          {each.line > 0 && (
            <code class="quiet">
              {file}:{each.line}
            </code>
          )}
          <Rows
            rows={[
              ['expected', each.expected],
              ['received', each.received],
              ...(each.near === null ? [] : [['nearest', each.near] as const]),
            ]}
          />
        </div>
      ))}
      {near !== null && <p>nearest: {visibleLine(near)}</p>}
      {shares.length > 0 && <Rows rows={shares} />}
      {explained !== null && (
        <>
          <p class="request">{visibleLine(explained.request)}</p>
          <Steps steps={explained.steps} decidedBy={explained.decidedBy} places={null} />
          {explained.values.length > 0 && <ValuesView values={explained.values} />}
        </>
      )}
      <p class="quiet">
        {line > 0 && `${file}:${line}; `}run again: <code>{visible(rerun)}</code>
      </p>
      {details !== null && (
        <details>
          <summary>All details</summary>
          <pre>{visible(details)}</pre>
        </details>
      )}
    </>
  );
}
