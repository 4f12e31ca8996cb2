import type { BodyEditor, MakeBodyEditor } from './contract.ts';

/** One editor that does what fresh ones of all of these do, one after the other. */
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

/** A whole body after editing; null when it cannot be edited. */
export function editWhole(bytes: Uint8Array, makers: readonly MakeBodyEditor[]): Uint8Array | null {
  if (makers.length === 0) return bytes;
  const editor = chainEditors(makers);
  const edited = editor.push(bytes);
  const rest = edited === null ? null : editor.end();
  return edited === null || rest === null ? null : joined(edited, rest);
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
