import type { LoginEnd } from '../auth/revocations.ts';
import type { SharedAnswer, SharedRequest } from '../engine/shared_question.ts';

/** What a process says to the one that has the state, in order. */
export type ToHub =
  | { readonly asks: readonly (readonly [serial: number, request: SharedRequest])[] }
  | { readonly ended: LoginEnd }
  /** The process is ready for revocations. */
  | { readonly joins: true };

/** What it hears. */
export type FromHub =
  | { readonly answers: readonly (readonly [serial: number, answer: SharedAnswer])[] }
  /** `isAll`: all that are known, in answer to `joins`. Sessions that began until `allBeforeMs` are invalid, too. */
  | {
      readonly ends: readonly LoginEnd[];
      /** JSON has no infinity: null for none. */
      readonly allBeforeMs: number | null;
      readonly isAll: boolean;
    };

/** One side of a channel between processes. Messages arrive in order, or the channel is over. */
export interface Link<Sent, Heard> {
  /** False if the channel is over. */
  readonly send: (message: Sent) => boolean;
  readonly hear: (take: (message: Heard) => void) => void;
  readonly onOver: (over: () => void) => void;
}
