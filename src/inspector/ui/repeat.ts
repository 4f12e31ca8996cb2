/** Sending an exchange again, and copying it. */
import { signal } from '@preact/signals';
import type { AppendAnswer, AppendRequest, CopyAnswer, ResendAnswer, ResendRequest } from '../wire.ts';
import type { ExchangeDetail } from '../wire_detail.ts';
import { attempt, note, selected } from './state.ts';
import { get, send } from './server.ts';

/** What is shown to be copied, and of which exchange; null for nothing. */
export const copied = signal<(CopyAnswer & { readonly seq: number }) | null>(null);
/** The exchange whose request is being changed; null for none. */
export const edited = signal<ExchangeDetail | null>(null);

export async function copy(seq: number, as: CopyAnswer['as']): Promise<void> {
  const answer = await attempt(() => get<CopyAnswer>(`exchanges/${seq}/copy?as=${as}`));
  if (answer === null) return;
  copied.value = { ...answer, seq };
  try {
    await navigator.clipboard.writeText(answer.text);
    note.value = 'Copied.';
  } catch {
    note.value = 'Copy it from the window.';
  }
}

/** Adds the case of an exchange to a scenario file of the project. */
export async function appendCase(seq: number, file: string): Promise<void> {
  const request: AppendRequest = { file };
  const answer = await attempt(() => send<AppendAnswer>('POST', `exchanges/${seq}/case`, request));
  if (answer === null) return;
  note.value = `${answer.created ? 'Written' : 'Added'}: ${answer.file}:${answer.line}`;
}

/** Sends it through the edge again and opens the new exchange. */
export async function resend(seq: number, edit?: ResendRequest['edit']): Promise<boolean> {
  const answer = await attempt(() =>
    send<ResendAnswer>('POST', `exchanges/${seq}/resend`, edit ? { edit } : {}),
  );
  if (answer === null) return false;
  note.value = [`Sent again: ${answer.status}`, ...answer.notes].join('; ');
  if (answer.seq !== null) selected.value = answer.seq;
  return true;
}
