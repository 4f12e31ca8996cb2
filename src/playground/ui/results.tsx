/** The cases with their results and explanations. Everything is text: nothing of a request becomes markup. */
import { signal } from '@preact/signals';
import { Steps } from '../../pages/explanation.tsx';
import { ValuesView } from '../../pages/values_view.tsx';
import { visible, visibleLine } from '../../pages/visible.ts';
import type { DecidedCase } from '../engine.ts';
import { decided, failure, findings, isBusy } from './project.ts';

interface Place {
  readonly file: string;
  readonly line: number;
}

type Show = (place: Place) => void;
type Received = NonNullable<DecidedCase['received']>;

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
        <span class="decided_by">{received?.explanation.decidedBy.message}</span>
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
  result: { received, near },
  show,
}: {
  readonly result: DecidedCase;
  readonly show: Show;
}) {
  return (
    <div class="explained">
      {near !== null && <p class="hint">{near}</p>}
      {received !== null && <Explanation explanation={received.explanation} show={show} />}
      {received !== null && received.values.length > 0 && <ValuesView values={received.values} />}
      {received !== null && <Response received={received} />}
    </div>
  );
}

function Explanation({
  explanation: { request, decidedBy, steps },
  show,
}: {
  readonly explanation: Received['explanation'];
  readonly show: Show;
}) {
  return (
    <>
      <p class="request">
        {request.method} {visibleLine(request.url)} from {request.clientIp}
      </p>
      <Steps steps={steps} decidedBy={steps.indexOf(decidedBy)} places={{ show }} />
    </>
  );
}

function Response({ received: { headers, body, bodyBytes } }: { readonly received: Received }) {
  const pairs = Array.from(
    { length: headers.length / 2 },
    (_, at) => `${headers[at * 2]}: ${headers[at * 2 + 1]}`,
  );
  return (
    <details>
      <summary>Response: {bodyBytes === 1 ? '1 byte' : `${bodyBytes} bytes`}</summary>
      <pre>{visible(`${pairs.join('\n')}\n\n${body}`)}</pre>
    </details>
  );
}
