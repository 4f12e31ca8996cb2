/** Sending an exchange again, and copying it. */
import { signal } from '@preact/signals';
import type { CopyAnswer, ResendAnswer, ResendRequest } from '../wire.ts';
import type { ExchangeDetail } from '../wire_detail.ts';
import { attempt, note, selected } from './state.ts';
import { get, send } from './server.ts';

/** What is shown to be copied; null for nothing. */
export const copied = signal<CopyAnswer | null>(null);
/** The exchange whose request is being changed; null for none. */
export const edited = signal<ExchangeDetail | null>(null);

export async function copy(seq: number, as: CopyAnswer['as']): Promise<void> {
  const answer = await attempt(() => get<CopyAnswer>(`exchanges/${seq}/copy?as=${as}`));
  if (answer === null) return;
  copied.value = answer;
  try {
    await navigator.clipboard.writeText(answer.text);
    note.value = 'Copied.';
  } catch {
    note.value = 'Copy it from the window.';
  }
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
