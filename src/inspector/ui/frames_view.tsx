/** Messages of WebSockets, server-sent events and gRPC, in both directions. */
import { useState } from 'preact/hooks';
import { hexDump, keptBytes } from '../../pages/body_forms.ts';
import { indentedJson } from '../../pages/json_text.ts';
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
          <FrameView key={index} frame={frame} />
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

function FrameView({ frame }: { readonly frame: Frame }) {
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
      <pre>{contentOf(frame)}</pre>
    </li>
  );
}

function contentOf(frame: Frame): string {
  if (frame.text !== undefined) return visible((indentedJson(frame.text) ?? frame.text).slice(0, LETTERS));
  const bytes = keptBytes(frame);
  return bytes === null ? '' : hexDump(bytes, 1024);
}
