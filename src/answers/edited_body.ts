import { chainEditors } from '../engine/body_editors.ts';
import type { MakeBodyEditor } from '../engine/contract.ts';
import type { BodyPart, ResponseBody } from './port.ts';

const END: BodyPart = { part: 'end' };

/**
 * A body as editors leave it, piece by piece: what comes out of a piece goes on before the next is read, and nothing
 * is read that nobody asks for. A body that cannot be edited breaks off with a fault, so that nobody takes it for
 * whole.
 */
export function editBody(source: ResponseBody, makers: readonly MakeBodyEditor[]): ResponseBody {
  const editor = chainEditors(makers);
  let last: BodyPart | null = null;

  function refused(): BodyPart {
    source.cancel();
    return (last = { part: 'fault', fault: 'malformed', detail: 'the body cannot be edited as it must be' });
  }

  async function pull(): Promise<BodyPart> {
    while (last === null) {
      const part = await source.pull();
      if (part.part === 'fault') last = part;
      else {
        const bytes = part.part === 'end' ? editor.end() : editor.push(part.bytes);
        if (bytes === null) return refused();
        if (part.part === 'end') last = END;
        if (bytes.length > 0) return { part: 'bytes', bytes };
      }
    }
    return last;
  }

  return { lengthBytes: null, pull, cancel: () => source.cancel() };
}
