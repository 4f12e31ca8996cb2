/** The filter by expression: completion as you type, findings at their place. */
import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { DiagnosticJson } from '../../diagnostics/json.ts';
import { findingIn } from '../../pages/findings.ts';
import type { FilterAnswer, FilterRequest } from '../wire.ts';
import type { CompleteAnswer } from '../wire_editing.ts';
import { attempt, expression, hello } from './state.ts';
import { send } from './server.ts';

const source = signal('');
const findings = signal<readonly DiagnosticJson[]>([]);
const offered = signal<CompleteAnswer | null>(null);
/** Index of the chosen candidate; -1 for none. */
const chosen = signal(-1);
const PAUSE_MS = 150;
const CANDIDATES = 12;

let timer = 0;
let asked = 0;

/** Asks after a pause of the keyboard; a late answer to an earlier text is dropped. */
function typed(text: string, offset: number): void {
  source.value = text;
  chosen.value = -1;
  window.clearTimeout(timer);
  const question = ++asked;
  timer = window.setTimeout(() => void ask(text, offset, question), PAUSE_MS);
}

async function ask(text: string, offset: number, question: number): Promise<void> {
  if (text.trim() === '') {
    findings.value = [];
    offered.value = null;
    expression.value = null;
    return;
  }
  const completion =
    hello.peek()?.can.complete === true
      ? attempt(() => send<CompleteAnswer>('POST', 'complete', { name: null, text, offset }))
      : Promise.resolve(null);
  const [filter, candidates] = await Promise.all([
    attempt(() => send<FilterAnswer>('POST', 'filter', { expression: text } satisfies FilterRequest)),
    completion,
  ]);
  if (question !== asked) return;
  findings.value = filter?.diagnostics ?? [];
  const isComplete = candidates?.candidates.some(
    (each) => each.text === text.slice(candidates.start, offset),
  );
  offered.value = isComplete === true ? null : candidates;
  const id = filter?.id ?? null;
  if (id !== null && id !== expression.peek()?.id) expression.value = { source: text, id };
}

function accept(input: HTMLInputElement, index: number): void {
  const { start, end, candidates } = offered.peek()!;
  const text = candidates[index]!.text;
  const next = source.peek().slice(0, start) + text + source.peek().slice(end);
  offered.value = null;
  source.value = next;
  input.value = next;
  input.setSelectionRange(start + text.length, start + text.length);
  input.focus();
  typed(next, start + text.length);
}

function onKey(event: KeyboardEvent): void {
  const input = event.currentTarget as HTMLInputElement;
  const count = Math.min(offered.peek()?.candidates.length ?? 0, CANDIDATES);
  if (event.key === 'Escape' && count > 0) offered.value = null;
  else if (count > 0 && event.key === 'ArrowDown') chosen.value = (chosen.peek() + 1) % count;
  else if (count > 0 && event.key === 'ArrowUp') chosen.value = (chosen.peek() + count) % count;
  else if (count > 0 && event.key === 'Tab' && !event.shiftKey) accept(input, Math.max(chosen.peek(), 0));
  else if (count > 0 && event.key === 'Enter' && chosen.peek() >= 0) accept(input, chosen.peek());
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Removes the expression from the field and from the filter. */
export function clearExpression(): void {
  window.clearTimeout(timer);
  asked++;
  source.value = '';
  findings.value = [];
  offered.value = null;
  expression.value = null;
}

export function ExpressionField() {
  const input = useRef<HTMLInputElement>(null);
  const candidates = offered.value?.candidates.slice(0, CANDIDATES) ?? [];
  const isOpen = candidates.length > 0;
  return (
    <div class="expression_field">
      <input
        id="filter"
        ref={input}
        class="mono"
        value={source.value}
        role="combobox"
        aria-label="Filter by expression"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls="candidates"
        aria-invalid={findings.value.length > 0}
        aria-describedby="findings"
        {...(chosen.value >= 0 && isOpen && { 'aria-activedescendant': `candidate${chosen.value}` })}
        placeholder="ev.http.response.status_code >= 400"
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget: { value, selectionStart } }) =>
          typed(value, selectionStart ?? value.length)
        }
        onKeyDown={onKey}
        onBlur={() => void window.setTimeout(() => void (offered.value = null), 200)}
      />
      <ul id="candidates" role="listbox" aria-label="Completions" class={isOpen ? 'open' : ''}>
        {candidates.map(({ text, kind, doc }, index) => (
          <li
            key={text}
            id={`candidate${index}`}
            role="option"
            aria-selected={index === chosen.value}
            onMouseDown={(event) => {
              event.preventDefault();
              accept(input.current!, index);
            }}
          >
            <code>{text}</code> <span class="quiet">{kind}</span> <span class="doc">{doc}</span>
          </li>
        ))}
      </ul>
      <div id="findings" role="status">
        {findings.value.map((finding, index) => (
          <Located key={index} finding={finding} />
        ))}
      </div>
    </div>
  );
}

/** The message below the part of the expression that it is about. */
function Located({ finding }: { readonly finding: DiagnosticJson }) {
  const { span, message, hint } = findingIn(source.value, finding);
  const { start, end } = span ?? { start: 0, end: 0 };
  return (
    <p class="located">
      <code>
        {source.value.slice(0, start)}
        <mark>{source.value.slice(start, Math.max(end, start + 1)) || ' '}</mark>
        {source.value.slice(Math.max(end, start + 1))}
      </code>
      <span>
        {message}
        {hint !== null && <span class="hint"> {hint}</span>}
      </span>
    </p>
  );
}
