import type { Body, BodyFault, BodyPart } from './port.ts';

export type Held = { readonly bytes: Uint8Array } | { readonly failure: 'too_large' | BodyFault };

/** A body that can be looked at before it is passed on, and passed on again as long as all of it is held. */
export interface HeldBody {
  /**
   * Reads the whole body if it is not longer than `limitBytes`. A body that is too long stays usable: what was
   * read comes first when it is opened. Never rejects.
   */
  hold(limitBytes: number): Promise<Held>;
  /** The body from its first byte, or null when bytes of it have been passed on and are not held any more. */
  open(): Body | null;
}

const END: BodyPart = { part: 'end' };

/** Wraps a body; from then on it is read through the wrapper only. */
export function holdBody(source: Body): HeldBody {
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let complete = source.lengthBytes === 0;
  let passedOn = false;

  async function hold(limitBytes: number): Promise<Held> {
    // A length that is declared too long is refused before a byte of it is taken, or asked for by 100 Continue.
    if (source.lengthBytes !== null && source.lengthBytes > limitBytes) return { failure: 'too_large' };
    if (passedOn) return { failure: 'left' };
    while (!complete && heldBytes <= limitBytes) {
      const part = await source.pull();
      if (part.part === 'fault') return { failure: part.fault };
      if (part.part === 'end') {
        complete = true;
      } else {
        held.push(part.bytes);
        heldBytes += part.bytes.length;
      }
    }
    return heldBytes > limitBytes ? { failure: 'too_large' } : { bytes: Buffer.concat(held, heldBytes) };
  }

  function open(): Body | null {
    if (complete) return replay(held, heldBytes);
    if (passedOn) return null;
    return {
      lengthBytes: source.lengthBytes,
      pull() {
        passedOn = true;
        const bytes = held.shift();
        return bytes === undefined ? source.pull() : Promise.resolve({ part: 'bytes', bytes });
      },
    };
  }

  return { hold, open };
}

/** A body of bytes in memory. */
export function bodyOf(bytes: Uint8Array): Body {
  return replay(bytes.length === 0 ? [] : [bytes], bytes.length);
}

/** All is there, so the length is known and each opening gives the same bytes. */
function replay(held: readonly Uint8Array[], lengthBytes: number): Body {
  let at = 0;
  return {
    lengthBytes,
    pull() {
      const bytes = held[at++];
      return Promise.resolve(bytes === undefined ? END : { part: 'bytes', bytes });
    },
  };
}
