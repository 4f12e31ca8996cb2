/** The request of an exchange as a form, to be sent with changes. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RecordedBody } from '../../replay/recording.ts';
import type { ResendRequest } from '../wire.ts';
import type { ExchangeDetail } from '../wire_detail.ts';
import { edited, resend } from './repeat.ts';

/** `name: value` lines as fields; throws for a line that is not one. */
function fieldsOf(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => {
      const at = line.indexOf(':');
      if (at < 1)
        throw new TypeError(`\`${line.slice(0, 60)}\` is not a header field: write \`name: value\``);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
}

function linesOf(headers: readonly string[]): string {
  return Array.from(
    { length: headers.length / 2 },
    (_, at) => `${headers[at * 2]}: ${headers[at * 2 + 1]}`,
  ).join('\n');
}

/** Why the body cannot be edited as text; null if it can. */
function obstacleOf({ base64, truncated, bytes, text }: RecordedBody): string | null {
  if (base64 !== undefined) return 'The body is binary and is sent as it was.';
  if (truncated === true || (text === undefined && bytes !== 0)) return 'Only a part of the body was kept.';
  return null;
}

export function EditRequest({ detail: { row, exchange } }: { readonly detail: ExchangeDetail }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState('');
  const { method, target, headers, body } = exchange.request;
  const obstacle = obstacleOf(body);
  useEffect(() => dialog.current!.showModal(), []);
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const valueOf = (name: string): string => (form.elements.namedItem(name) as HTMLInputElement).value;
    try {
      const edit: ResendRequest['edit'] = {
        method: valueOf('method'),
        target: valueOf('target'),
        headers: fieldsOf(valueOf('headers')),
        ...(obstacle === null && { body: { text: valueOf('body') } }),
      };
      setProblem('');
      if (await resend(row.seq, edit)) edited.value = null;
      else setProblem('It could not be sent; the reason is at the top of the page.');
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <dialog ref={dialog} class="edit" aria-labelledby="edit_title" onClose={() => void (edited.value = null)}>
      <h2 id="edit_title">Edit and resend</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <div class="line">
          <label>
            Method <input name="method" defaultValue={method} size={8} required />
          </label>
          <label class="grows">
            Target <input name="target" defaultValue={target} required spellcheck={false} />
          </label>
        </div>
        <label>
          Header <textarea name="headers" rows={8} spellcheck={false} defaultValue={linesOf(headers)} />
        </label>
        {obstacle === null ? (
          <label>
            Body <textarea name="body" rows={8} spellcheck={false} defaultValue={body.text ?? ''} />
          </label>
        ) : (
          <p class="hint">{obstacle}</p>
        )}
        {problem !== '' && (
          <p class="failure" role="alert">
            {problem}
          </p>
        )}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current!.close()}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Send
          </button>
        </div>
      </form>
    </dialog>
  );
}
