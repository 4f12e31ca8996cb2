/** The parts of the details, each from what it is given. */
import type { ComponentChildren } from 'preact';
import { BodyView, LongText } from '../../pages/body_view.tsx';
import { Steps } from '../../pages/explanation.tsx';
import { FieldsView, linesOfFields } from '../../pages/fields_view.tsx';
import { headerChanges } from '../../pages/header_changes.ts';
import { visibleLine } from '../../pages/visible.ts';
import type { Detail, ExchangeDetail } from '../wire_detail.ts';
import { ConnectionView } from './connection_view.tsx';
import { FramesView } from './frames_view.tsx';
import { places } from './places.ts';

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly count?: number;
  readonly content: () => ComponentChildren;
}

export function tabsOf(detail: Detail): readonly Tab[] {
  const explanation: Tab = {
    id: 'explanation',
    label: 'Explanation',
    content: () => <Explanation of={detail} />,
  };
  const connection: Tab = {
    id: 'connection',
    label: 'Timing',
    content: () => <ConnectionView detail={detail} />,
  };
  const event: Tab = { id: 'event', label: 'Event', content: () => <Event of={detail} /> };
  if (detail.kind === 'connection') return [explanation, connection, event];
  const { exchange, frames } = detail;
  return [
    explanation,
    { id: 'request', label: 'Request', content: () => <Request of={exchange} /> },
    { id: 'response', label: 'Response', content: () => <Response of={detail} /> },
    {
      id: 'upstream',
      label: 'Upstream',
      count: exchange.forwards.length,
      content: () => <Upstream of={exchange} />,
    },
    ...(frames === null
      ? []
      : [
          {
            id: 'frames',
            label: 'Messages',
            count: frames.list.length + frames.dropped,
            content: () => <FramesView frames={frames} />,
          },
        ]),
    connection,
    event,
  ];
}

function Explanation({ of: { explanation } }: { readonly of: Detail }) {
  if (explanation === null) return <p class="quiet">It is not decided yet.</p>;
  return <Steps steps={explanation.steps} decidedBy={explanation.decidedBy} places={places} />;
}

type Exchange = ExchangeDetail['exchange'];

function Request({ of: { request } }: { readonly of: Exchange }) {
  const { method, scheme, target, version, headers, body } = request;
  return (
    <>
      <p class="start_line">
        <code>
          {visibleLine(method, 100)} {visibleLine(target, 4000)} HTTP/{version}
        </code>{' '}
        <span class="quiet">{scheme}</span>
      </p>
      <FieldsView caption="Header" lines={linesOfFields(headers)} />
      <BodyView body={body} headers={headers} />
    </>
  );
}

function Response({ of: { exchange, responseBody, row } }: { readonly of: ExchangeDetail }) {
  const { response, forwards } = exchange;
  if (response === null)
    return <p class="quiet">{row.state === 'open' ? 'No response yet.' : 'The client got no response.'}</p>;
  const answered = forwards.findLast((forward) => forward.response !== null)?.response ?? null;
  const lines =
    answered === null || row.by !== 'upstream'
      ? linesOfFields(response.headers)
      : headerChanges(answered.headers, response.headers);
  return (
    <>
      <p class="start_line">
        <code class={`code c${Math.floor(response.status / 100)}`}>{response.status}</code>
      </p>
      <FieldsView
        caption={
          lines.some(({ change }) => change !== 'same') ? 'Header, compared with the upstream’s' : 'Header'
        }
        lines={lines}
      />
      <BodyView body={responseBody ?? response.body} headers={response.headers} />
    </>
  );
}

/** What each upstream saw, compared with what the client sent, and what it answered. */
function Upstream({ of: { request, forwards, fetches } }: { readonly of: Exchange }) {
  if (forwards.length === 0 && fetches.length === 0)
    return <p class="quiet">No upstream was asked: the edge answered.</p>;
  return (
    <>
      {forwards.map(({ backend, address, target, headers, response, failure, reused }, index) => (
        <section key={index} class="forward">
          <h3>
            {visibleLine(backend, 100)} <span class="quiet">{visibleLine(address, 200)}</span>{' '}
            <span class="quiet">{reused ? 'reused connection' : 'new connection'}</span>
          </h3>
          <p class="start_line">
            <code>
              {visibleLine(request.method, 100)} {visibleLine(target, 4000)}
            </code>
            {target !== request.target && <span class="flag">target rewritten</span>}
          </p>
          <FieldsView
            caption="Header that it saw, compared with the client’s"
            lines={headerChanges(request.headers, headers)}
          />
          {failure !== undefined && <p class="failure">{visibleLine(failure, 2000)}</p>}
          {response !== null && (
            <>
              <p class="start_line">
                answered <code class={`code c${Math.floor(response.status / 100)}`}>{response.status}</code>
              </p>
              <FieldsView caption="Header of its answer" lines={linesOfFields(response.headers)} />
              <BodyView body={response.body} headers={response.headers} />
            </>
          )}
        </section>
      ))}
      {fetches.map(({ method, url, response, failure }, index) => (
        <section key={index} class="forward">
          <h3>The edge’s own request</h3>
          <p class="start_line">
            <code>
              {method} {visibleLine(url, 2000)}
            </code>{' '}
            {response === null ? (failure ?? 'no answer') : response.status}
          </p>
        </section>
      ))}
    </>
  );
}

function Event({ of: { event } }: { readonly of: Detail }) {
  if (event === null) return <p class="quiet">It is delivered at the end.</p>;
  return <LongText text={JSON.stringify(event, null, 2)} />;
}
