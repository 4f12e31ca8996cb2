import type { BodyEditor, MakeBodyEditor } from './questions.ts';

/** One editor that applies fresh editors from all makers in order. */
export function chainEditors(makers: readonly MakeBodyEditor[]): BodyEditor {
  const editors = makers.map((make) => make());
  return {
    push: (piece) => {
      let bytes = piece;
      for (const editor of editors) {
        const edited = editor.push(bytes);
        if (edited === null) return null;
        bytes = edited;
      }
      return bytes;
    },
    end: () => {
      let bytes = NO_BYTES;
      for (const editor of editors) {
        const edited = bytes.length === 0 ? NO_BYTES : editor.push(bytes);
        const rest = edited === null ? null : editor.end();
        if (edited === null || rest === null) return null;
        bytes = joined(edited, rest);
      }
      return bytes;
    },
  };
}

/** A body after editing. */
export interface EditedBytes {
  readonly bytes: Uint8Array;
  /** The source broke off, or the body cannot be edited as required. */
  readonly isCut: boolean;
}

/** Edits a body that is in memory. What editors hold back is lost with a body that `isCut`. */
export function editWhole(
  bytes: Uint8Array,
  makers: readonly MakeBodyEditor[],
  isCut: boolean = false,
): EditedBytes {
  if (makers.length === 0) return { bytes, isCut };
  const editor = chainEditors(makers);
  const pushed = bytes.length === 0 ? NO_BYTES : editor.push(bytes);
  if (pushed === null) return { bytes: NO_BYTES, isCut: true };
  if (isCut) return { bytes: pushed, isCut };
  const rest = editor.end();
  return rest === null ? { bytes: pushed, isCut: true } : { bytes: joined(pushed, rest), isCut };
}

const NO_BYTES: Uint8Array = new Uint8Array(0);

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (other.length === 0) return one;
  if (one.length === 0) return other;
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
