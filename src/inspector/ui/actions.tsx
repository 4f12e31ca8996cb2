/** What can be done with an exchange: send it again, change it, copy it, keep it, decide it again with a draft. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { visible } from '../../pages/visible.ts';
import type { CopyAnswer } from '../wire.ts';
import type { Detail } from '../wire_detail.ts';
import { EditRequest } from './edit_request.tsx';
import { appendCase, copied, copy, edited, resend } from './repeat.ts';
import { attempt, hello, note, togglePin, view } from './state.ts';

export function Actions({ detail }: { readonly detail: Detail }) {
  const { seq, pinned } = detail.row;
  const can = hello.value?.can;
  return (
    <div class="actions" role="group" aria-label="Actions">
      {detail.kind === 'exchange' && (
        <>
          {can?.resend === true && (
            <>
              <button type="button" title="r" onClick={() => void resend(seq)}>
                Resend
              </button>
              <button type="button" title="e" onClick={() => void (edited.value = detail)}>
                Edit and resend
              </button>
            </>
          )}
          {can?.draft === true && (
            <button type="button" title="d" onClick={() => void (view.value = 'draft')}>
              Decide with a draft
            </button>
          )}
          <button type="button" title="u" onClick={() => void copy(seq, 'curl')}>
            curl
          </button>
          <button type="button" title="h" onClick={() => void copy(seq, 'har')}>
            HAR
          </button>
          <button type="button" title="s" onClick={() => void copy(seq, 'case')}>
            Save as case
          </button>
        </>
      )}
      <button
        type="button"
        title="i"
        aria-pressed={pinned}
        onClick={() => void attempt(() => togglePin(seq))}
      >
        {pinned ? 'Pinned' : 'Pin'}
      </button>
      {edited.value !== null && edited.value === detail && <EditRequest detail={edited.value} />}
      <CopyWindow />
    </div>
  );
}

function CopyWindow() {
  const dialog = useRef<HTMLDialogElement>(null);
  const answer = copied.value;
  useEffect(() => {
    if (answer !== null) dialog.current?.showModal();
  }, [answer]);
  if (answer === null) return null;
  return (
    <dialog ref={dialog} aria-labelledby="copy_title" onClose={() => void (copied.value = null)}>
      <h2 id="copy_title">{answer.name}</h2>
      {answer.notes.length > 0 && (
        <ul class="notes">
          {answer.notes.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ul>
      )}
      <pre tabIndex={0}>{visible(answer.text)}</pre>
      {answer.as === 'case' && hello.value?.can.write === true && <AppendForm seq={answer.seq} />}
      <form method="dialog" class="buttons">
        <span class="quiet" role="status">
          {note.value}
        </span>
        <button type="button" onClick={() => download(answer)}>
          Download
        </button>
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

/** The scenario file that was named last. */
const scenarioFile = signal('inspector.scenario.yaml');

function AppendForm({ seq }: { readonly seq: number }) {
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault();
        void appendCase(seq, scenarioFile.value.trim());
      }}
    >
      <label class="grows">
        Scenario file{' '}
        <input
          name="file"
          value={scenarioFile.value}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => (scenarioFile.value = currentTarget.value)}
        />
      </label>
      <button type="submit">Add to the file</button>
    </form>
  );
}

/** Saves a text under the name that the server proposed. */
function download({ text, name }: CopyAnswer): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replaceAll(/[^\w.-]/g, '_');
  link.click();
  URL.revokeObjectURL(url);
}
