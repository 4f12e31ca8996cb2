/** The cases with their results and explanations. Everything is text: nothing of a request becomes markup. */
import { signal } from '@preact/signals';
import type { InnerStep } from '../../engine/contract.ts';
import type { Explanation, LocatedStep } from '../../edge/explain.ts';
import type { DecidedCase } from '../engine.ts';
import { decided, failure, findings, isBusy } from './project.ts';

interface Place {
  readonly file: string;
  readonly line: number;
}

type Show = (place: Place) => void;

const open = signal<ReadonlySet<string>>(new Set());

function toggle(name: string): void {
  const next = new Set(open.peek());
  if (!next.delete(name)) next.add(name);
  open.value = next;
}

export function Results({ show }: { readonly show: Show }) {
  const now = decided.value;
  const errors = findings.value.filter(({ severity }) => severity === 'error').length;
  return (
    <section aria-label="Results" aria-busy={isBusy.value}>
      <p class="status" role="status">
        {isBusy.value ? 'Deciding …' : statusOf(now?.cases ?? [], errors)}
      </p>
      {failure.value !== null && (
        <p class="failure" role="alert">
          {failure.value}
        </p>
      )}
      <Findings show={show} />
      <ol class="cases">
        {now?.cases.map((each) => (
          <Case key={each.name} result={each} show={show} />
        ))}
      </ol>
    </section>
  );
}

function statusOf(cases: readonly DecidedCase[], errors: number): string {
  if (errors > 0) return errors === 1 ? '1 error' : `${errors} errors`;
  const failed = cases.filter(({ status }) => status === 'failed').length;
  const total = cases.length === 1 ? '1 case' : `${cases.length} cases`;
  return failed === 0 ? `${total}, all as expected` : `${total}, ${failed} not as expected`;
}

function Findings({ show }: { readonly show: Show }) {
  if (findings.value.length === 0) return null;
  return (
    <ul class="findings">
      {findings.value.map(({ code, message, hint, severity, source, span, pointer }) => (
        <li key={`${code} ${pointer}`} class={severity}>
          <button
            type="button"
            onClick={() => show(placeOf(source?.name ?? '', source?.text ?? '', span?.start ?? 0))}
          >
            {message}
          </button>
          {hint !== undefined && <span class="hint"> {hint}</span>} <code>{code}</code>
        </li>
      ))}
    </ul>
  );
}

function placeOf(file: string, text: string, offset: number): Place {
  return { file, line: text.slice(0, offset).split('\n').length };
}

function Case({ result, show }: { readonly result: DecidedCase; readonly show: Show }) {
  const { name, status, received, mismatches } = result;
  const isOpen = open.value.has(name);
  const code = received?.status ?? 0;
  return (
    <li class={`case ${status}`}>
      <button type="button" aria-expanded={isOpen} onClick={() => toggle(name)}>
        <span class={`code c${Math.floor(code / 100)}`}>{code === 0 ? '–' : code}</span>
        <span class="name">{name}</span>
        <span class="verdict">{status === 'passed' ? '' : status}</span>
        <span class="because">{received?.explanation.because.message}</span>
      </button>
      {mismatches.map(({ what, expected, received: got }) => (
        <p key={what} class="mismatch">
          {what}: expected {expected}, received {got}
        </p>
      ))}
      {isOpen && <Explained result={result} show={show} />}
    </li>
  );
}

function Explained({
  result: { explained, received, near },
  show,
}: {
  readonly result: DecidedCase;
  readonly show: Show;
}) {
  return (
    <div class="explained">
      {near !== null && <p class="hint">{near}</p>}
      {received !== null && <Steps explanation={received.explanation} show={show} />}
      {explained !== null && explained.values.length > 0 && <Values values={explained.values} />}
      {received !== null && <Response received={received} />}
    </div>
  );
}

function Steps({
  explanation: { request, because, steps },
  show,
}: {
  readonly explanation: Explanation;
  readonly show: Show;
}) {
  const deciding = steps.indexOf(because);
  return (
    <>
      <p class="request">
        {request.method} {request.url} from {request.clientIp}
      </p>
      <ol class="steps">
        {steps.map((step, index) => (
          <Step key={index} step={step} isDeciding={index === deciding} show={show} />
        ))}
      </ol>
    </>
  );
}

function Values({ values }: { readonly values: NonNullable<DecidedCase['explained']>['values'] }) {
  return (
    <table>
      <caption>Values of expressions</caption>
      <tbody>
        {values.flatMap(({ pointer, parts }) =>
          parts.map(({ text, value }, index) => (
            <tr key={`${pointer} ${index}`}>
              <th scope="row">
                <code>{text}</code>
              </th>
              <td>
                <code>{value}</code>
              </td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}

function Response({
  received: { headers, body, bodyBytes },
}: {
  readonly received: NonNullable<DecidedCase['received']>;
}) {
  const pairs = Array.from(
    { length: headers.length / 2 },
    (_, at) => `${headers[at * 2]}: ${headers[at * 2 + 1]}`,
  );
  return (
    <details>
      <summary>Response: {bodyBytes === 1 ? '1 byte' : `${bodyBytes} bytes`}</summary>
      <pre>{`${pairs.join('\n')}\n\n${body}`}</pre>
    </details>
  );
}

function Step({
  step,
  isDeciding,
  show,
}: {
  readonly step: LocatedStep;
  readonly isDeciding: boolean;
  readonly show: Show;
}) {
  const inner: readonly (InnerStep & { readonly place: LocatedStep['place'] })[] = step.inner ?? [];
  return (
    <li class={isDeciding ? 'deciding' : ''}>
      <Line name={step.module} message={step.message} place={step.place} show={show} />
      {inner.length > 0 && (
        <ol>
          {inner.map((each, index) => (
            <li key={index}>
              <Line name={each.code} message={each.message} place={each.place} show={show} />
            </li>
          ))}
        </ol>
      )}
    </li>
  );
}

function Line({
  name,
  message,
  place,
  show,
}: {
  readonly name: string;
  readonly message: string;
  readonly place: LocatedStep['place'];
  readonly show: Show;
}) {
  return (
    <>
      <code>{name}</code> {message}{' '}
      {place !== null && (
        <button type="button" class="place" onClick={() => show(place)}>
          {place.file}:{place.line}
        </button>
      )}
    </>
  );
}
