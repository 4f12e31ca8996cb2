/** Timing, the client's connection, and who was logged in. */
import type { ComponentChildren } from 'preact';
import { clockText, durationText, sizeText } from '../../pages/units.ts';
import { visibleLine } from '../../pages/visible.ts';
import type { ConnectionFacts, Detail, Identity, Timing } from '../wire_detail.ts';

export function ConnectionView({ detail }: { readonly detail: Detail }) {
  const { row, timing, connection } = detail;
  return (
    <>
      <TimingView timing={timing} forwards={detail.kind === 'exchange' ? detail.exchange.forwards : []} />
      <Facts title="Answered by">
        <Fact name="Backend">{row.backend ?? 'none'}</Fact>
        {row.tunnel !== null && <Fact name="Agent’s tunnel">{row.tunnel}</Fact>}
        <Fact name="Decided by">
          {row.by} {row.code}
        </Fact>
        <Fact name="Revision">{row.revision}</Fact>
        <Fact name="Received">{sizeText(row.requestBytes)}</Fact>
        <Fact name="Sent">{sizeText(row.responseBytes)}</Fact>
        {row.eventId !== null && <Fact name="Event">{row.eventId}</Fact>}
      </Facts>
      <ConnectionFactsView connection={connection} protocol={row.protocol} />
      {detail.kind === 'exchange' && <IdentityView identity={detail.identity} />}
    </>
  );
}

function Facts({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl class="facts_list">{children}</dl>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface Span {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

/** The parts of the time that it took, one bar each. */
function spansOf(
  { forwardedAfter, answeredAfter, repliedAfter, endedAfter, forwards }: Timing,
  names: readonly { readonly backend: string }[],
): Span[] {
  const end = endedAfter ?? repliedAfter ?? answeredAfter ?? forwardedAfter ?? 0;
  const spans: (Span | null)[] = [
    { label: 'Edge decides', from: 0, to: forwardedAfter ?? repliedAfter ?? end },
    ...forwards.map(({ after, tookMs }, index) => ({
      label: `Upstream ${visibleLine(names[index]?.backend ?? '', 40)}`,
      from: after,
      to: tookMs === null ? end : after + tookMs,
    })),
    answeredAfter === null || repliedAfter === null
      ? null
      : { label: 'Edge replies', from: answeredAfter, to: repliedAfter },
    repliedAfter === null ? null : { label: 'Body', from: repliedAfter, to: end },
  ];
  return spans.filter((span) => span !== null);
}

function TimingView({
  timing,
  forwards,
}: {
  readonly timing: Timing;
  readonly forwards: readonly { readonly backend: string }[];
}) {
  const spans = spansOf(timing, forwards);
  const end = Math.max(...spans.map(({ to }) => to), 0.001);
  return (
    <section>
      <h3>
        Timing <span class="quiet">began {clockText(timing.startMs, true)}</span>
      </h3>
      <table class="timing">
        <caption class="hidden">Parts of the time</caption>
        <tbody>
          {spans.map(({ label, from, to }, index) => (
            <tr key={index}>
              <th scope="row">{label}</th>
              <td class="bar">
                <span style={{ left: `${(from / end) * 100}%`, width: `${((to - from) / end) * 100}%` }} />
              </td>
              <td class="number">{durationText(Math.max(0, to - from))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {timing.connectedMs > 0 && timing.connectedMs < timing.startMs && (
        <p class="quiet">
          The connection had been open for {durationText(timing.startMs - timing.connectedMs)}.
        </p>
      )}
    </section>
  );
}

function ConnectionFactsView({
  connection: { clientIp, clientPort, serverIp, serverPort, serverName, tls },
  protocol,
}: {
  readonly connection: ConnectionFacts;
  readonly protocol: string;
}) {
  return (
    <Facts title="Connection">
      <Fact name="Client">
        {clientIp} port {clientPort}
      </Fact>
      <Fact name="Server">
        {serverIp} port {serverPort}
      </Fact>
      <Fact name="Protocol">{protocol}</Fact>
      <Fact name="TLS">{tls === null ? 'none' : `${tls.version}, ${tls.cipherSuite}`}</Fact>
      {tls !== null && <Fact name="Server name">{visibleLine(serverName, 300) || 'none sent'}</Fact>}
      {tls !== null && tls.alpn !== '' && <Fact name="ALPN">{visibleLine(tls.alpn, 60)}</Fact>}
      {tls !== null && (
        <Fact name="Client certificate">
          {tls.clientCertificate === null
            ? 'none'
            : `${visibleLine(tls.clientCertificate.subjectCn, 200)}, serial ${tls.clientCertificate.serialNumber}`}
        </Fact>
      )}
    </Facts>
  );
}

function IdentityView({ identity }: { readonly identity: Identity | null }) {
  return (
    <Facts title="Identity">
      {identity === null ? (
        <Fact name="User">no login</Fact>
      ) : (
        <>
          <Fact name="By">{identity.by}</Fact>
          <Fact name="Id">{visibleLine(identity.id, 300)}</Fact>
          <Fact name="Name">{visibleLine(identity.name, 300)}</Fact>
          <Fact name="Email">{visibleLine(identity.email, 300)}</Fact>
        </>
      )}
    </Facts>
  );
}
