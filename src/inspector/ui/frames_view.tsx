/** Messages of WebSockets, server-sent events and gRPC, in both directions. */
import { useState } from 'preact/hooks';
import { hexDump, keptBytes } from '../../pages/body_forms.ts';
import { indentedJson } from '../../pages/json_text.ts';
import { protobufText } from '../../pages/protobuf.ts';
import { countText, durationText, sizeText } from '../../pages/units.ts';
import { visible, visibleLine } from '../../pages/visible.ts';
import type { Frame, Frames } from '../wire_detail.ts';

const SHOWN = 100;
const LETTERS = 4000;

// table: names of the kinds
const KINDS = { websocket: 'WebSocket messages', sse: 'Server-sent events', grpc: 'gRPC messages' } as const;

export function FramesView({ frames: { kind, list, dropped } }: { readonly frames: Frames }) {
  const [count, setCount] = useState(SHOWN);
  return (
    <>
      <p class="facts">
        {KINDS[kind]}: {countText(list.length + dropped)}
        {dropped > 0 && <strong class="flag">{countText(dropped)} were not kept</strong>}
      </p>
      <ol class="frames">
        {list.slice(0, count).map((frame, index) => (
          <FrameView key={index} kind={kind} frame={frame} />
        ))}
      </ol>
      {list.length > count && (
        <button type="button" onClick={() => setCount(count + 400)}>
          Show more of {countText(list.length - count)} further messages
        </button>
      )}
    </>
  );
}

function FrameView({ kind, frame }: { readonly kind: Frames['kind']; readonly frame: Frame }) {
  const { from, after, type, bytes, truncated } = frame;
  return (
    <li class={from}>
      <p>
        <span aria-hidden="true">{from === 'client' ? '↑' : '↓'}</span> <strong>{from}</strong>{' '}
        <span class="quiet">
          {visibleLine(type, 60)}, {sizeText(bytes)}
          {after !== null && `, after ${durationText(after)}`}
        </span>
        {truncated === true && <strong class="flag">only its beginning was kept</strong>}
      </p>
      <pre>{contentOf(kind, frame)}</pre>
    </li>
  );
}

function contentOf(kind: Frames['kind'], frame: Frame): string {
  const fields = kind === 'grpc' && frame.type === 'message' ? fieldsOf(frame) : null;
  if (fields !== null) return visible(fields.slice(0, LETTERS));
  if (frame.text !== undefined) return visible((indentedJson(frame.text) ?? frame.text).slice(0, LETTERS));
  const bytes = keptBytes(frame);
  return bytes === null ? '' : hexDump(bytes, 1024);
}

/** The fields of a gRPC message; null where it is JSON, or no message. */
function fieldsOf(frame: Frame): string | null {
  if (frame.text !== undefined && /^\s*[[{]/.test(frame.text) && indentedJson(frame.text) !== null)
    return null;
  const bytes = keptBytes(frame);
  return bytes === null ? null : protobufText(bytes, frame.truncated === true);
}
