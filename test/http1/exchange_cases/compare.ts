import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CaseGroup, ExchangeCase } from './case.ts';
import { GROUPS } from './cases/all.ts';
import { judge } from './judge.ts';
import { type Peer, type PeerSite, startPeers } from './peers.ts';
import { type Played, play } from './play.ts';
import { PROOF_TARGET, type Recorded, recordingUpstream } from './recording_upstream.ts';
import { sender } from './sending.ts';

/**
 * Plays every case against nginx and HAProxy, as far as they are installed, and writes what differs from ours into
 * docs/plane_comparison.md: `node test/http1/exchange_cases/compare.ts`. Ours is held to the same cases by plane_cases.test.ts.
 */

const PATIENCE_MS = 2_500;
const PAGE = join(import.meta.dirname, '../../../docs/plane_comparison.md');

/** What a peer does with each case; null: as ours. */
type Column = ReadonlyMap<ExchangeCase, string | null>;

async function columnOf(peer: Peer): Promise<Column> {
  const column = new Map<ExchangeCase, string | null>();
  const waiting = GROUPS.flatMap(({ cases }) => [...cases]);
  await Promise.all(
    peer.sites.map(async (site) => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        column.set(one, await playPeer(one, site));
      }
    }),
  );
  return column;
}

async function playPeer(one: ExchangeCase, { port, upstreamPort }: PeerSite): Promise<string | null> {
  const send = sender('whole');
  const upstream =
    one.upstream === null
      ? null
      : await recordingUpstream(one.upstream, send, { port: upstreamPort, anyForm: true });
  const played = await play(one, port, upstream, send, PATIENCE_MS);
  const recorded = upstream?.recorded() ?? { requests: [], rest: '', violations: [] };
  await upstream?.close();
  return judge(one, played, recorded).length === 0 ? null : whatItDid(one, played, recorded);
}

/** In a few words: what the client got, what the upstream got, and whether that was strict. */
function whatItDid(one: ExchangeCase, played: Played, recorded: Recorded): string {
  const requests = recorded.requests.filter(({ line }) => !line.startsWith(`GET ${PROOF_TARGET} `));
  const lines = requests.map(({ line }) => line.replace(/ HTTP\/1\.1$/, ''));
  const expected = one.forwards.map(({ line }) => line.replace(/ HTTP\/1\.1$/, ''));
  const parts = [repliesOf(played)];
  if (lines.join('\n') !== expected.join('\n')) {
    parts.push(lines.length === 0 ? 'not forwarded' : `forwarded ${lines.map(code).join(', ')}`);
  }
  if (recorded.violations.length > 0)
    parts.push(`**forwarded what is not strict**: ${code(recorded.violations[0]!)}`);
  const rest = judge(one, played, recorded).filter((said) =>
    /content|has |times|framing|trailers|open|closed|no answer|too many/.test(said),
  );
  if (parts.length === 1 && rest.length > 0) parts.push(code(rest[0]!));
  return parts.join('; ');
}

function repliesOf({ replies, rest, closed, violation }: Played): string {
  const statuses = replies.map(({ line }) => line.slice(9, 12));
  if (rest !== '')
    statuses.push(rest.startsWith('HTTP/1.') ? `${rest.slice(9, 12)} unfinished` : 'more bytes');
  if (violation !== null) statuses.push(`a reply that is not strict (${code(violation)})`);
  if (statuses.length === 0) return closed ? 'closed without a word' : 'nothing in time';
  return (statuses.length > 4 ? [...statuses.slice(0, 3), '…', statuses.at(-1)!] : statuses).join(', ');
}

/** Text of the wire in a table: short, without line ends, with every odd byte spelled out. */
function code(text: string): string {
  const plain = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll('`', "'")
    .replaceAll('|', '¦')
    .replaceAll(/[^ -~¦]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `\`${plain.length > 90 ? `${plain.slice(0, 90)}…` : plain}\``;
}

function oursOf({ gets, forwards, after }: ExchangeCase): string {
  const statuses = gets
    .filter(({ optional }) => optional !== true)
    .map(({ status, cut }) => `${String(status)}${cut === true ? ', cut' : ''}`);
  const shown = statuses.length > 3 ? [...statuses.slice(0, 2), '…'] : statuses;
  const reply = shown.length === 0 ? 'no reply' : shown.join(', ');
  return `${reply}${forwards.length === 0 ? '' : `; ${forwards.length} forwarded`}${after === 'closed' ? '; closed' : ''}`;
}

function sectionOf(group: CaseGroup, peers: readonly Peer[], columns: readonly Column[]): string {
  const head = ['case', 'ours', ...peers.map(({ name }) => name), 'why ours'];
  const rows = group.cases.map((one) => {
    const cells = columns.map((column) => column.get(one) ?? 'as ours');
    const differs = cells.some((cell) => cell !== 'as ours');
    return [one.name, oursOf(one), ...cells, differs ? (one.why ?? '') : ''];
  });
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  return `## ${group.title}\n\n${group.why}.\n\n${lines.join('\n')}\n`;
}

function pageOf(peers: readonly Peer[], columns: readonly Column[]): string {
  const count = GROUPS.reduce((sum, { cases }) => sum + cases.length, 0);
  const sums = peers.map(({ name, version }, index) => {
    const cells = [...columns[index]!.values()];
    const same = cells.filter((cell) => cell === null).length;
    const loose = cells.filter((cell) => cell?.includes('**') === true).length;
    return `${name} ${version} does as ours in ${same}, and in ${loose} it forwards bytes that a strict reader refuses`;
  });
  return `# The plane beside nginx and HAProxy

Written by \`node test/http1/exchange_cases/compare.ts\`. ${count} exchanges on raw sockets, each with the bytes of both sides
(\`test/http1/exchange_cases/cases\`); what reaches the upstream is read once more by a parser that knows one spelling of
everything (\`test/http1/exchange_cases/strict_http.ts\`). ${sums.join('; ')}.

Both run with the configuration of a plain reverse proxy: WebSocket passed on, 16 kB of head, a second of patience. To differ is
not to be wrong: most rows are repairs that the RFC allows and ours does not make, or spellings that ours makes one of.

${GROUPS.map((group) => sectionOf(group, peers, columns)).join('\n')}`;
}

const { peers, absent } = await startPeers();
try {
  if (absent.length > 0) process.stderr.write(`not installed: ${absent.join(', ')}\n`);
  if (peers.length > 0) {
    const columns: Column[] = [];
    for (const peer of peers) columns.push(await columnOf(peer));
    writeFileSync(PAGE, pageOf(peers, columns));
    process.stdout.write(`wrote ${PAGE}\n`);
  }
} finally {
  await Promise.all(peers.map((peer) => peer.stop()));
}
