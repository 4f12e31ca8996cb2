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
 * Plays every case against nginx and HAProxy, if installed, and writes the differences to docs/proxy_comparison.md:
 * `node test/http1/exchange_cases/compare.ts`. exchanges.test.ts checks ours with the same cases.
 */

const PATIENCE_MS = 2_500;
const PAGE = join(import.meta.dirname, '../../../docs/proxy_comparison.md');

/** A peer's behaviour for each case; null: as ours. */
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

/** Summary: what the client received, what the upstream received, and whether that was strict. */
function whatItDid(one: ExchangeCase, played: Played, recorded: Recorded): string {
  const requests = recorded.requests.filter(({ line }) => !line.startsWith(`GET ${PROOF_TARGET} `));
  const lines = requests.map(({ line }) => line.replace(/ HTTP\/1\.1$/, ''));
  const expected = one.forwards.map(({ line }) => line.replace(/ HTTP\/1\.1$/, ''));
  const parts = [repliesOf(played)];
  if (lines.join('\n') !== expected.join('\n')) {
    parts.push(lines.length === 0 ? 'not forwarded' : `forwarded ${lines.map(code).join(', ')}`);
  }
  if (recorded.violations.length > 0)
    parts.push(`**forwarded invalid HTTP**: ${code(recorded.violations[0]!)}`);
  const rest = judge(one, played, recorded).filter((said) =>
    /content|has |times|framing|trailers|open|closed|no answer|too many/.test(said),
  );
  if (parts.length === 1 && rest.length > 0) parts.push(code(rest[0]!));
  return parts.join('; ');
}

function repliesOf({ replies, rest, closed, violation }: Played): string {
  const statuses = replies.map(({ line }) => line.slice(9, 12));
  if (rest !== '')
    statuses.push(rest.startsWith('HTTP/1.') ? `${rest.slice(9, 12)} unfinished` : 'other bytes');
  if (violation !== null) statuses.push(`invalid HTTP (${code(violation)})`);
  if (statuses.length === 0) return closed ? 'closed without a response' : 'timeout';
  return (statuses.length > 4 ? [...statuses.slice(0, 3), '…', statuses.at(-1)!] : statuses).join(', ');
}

/** Bytes as text for a table: short, without line ends, with escapes for unusual bytes. */
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
  const reply = shown.length === 0 ? 'no response' : shown.join(', ');
  return `${reply}${forwards.length === 0 ? '' : `; ${forwards.length} forwarded`}${after === 'closed' ? '; closed' : ''}`;
}

function sectionOf(group: CaseGroup, peers: readonly Peer[], columns: readonly Column[]): string {
  const head = ['case', 'ours', ...peers.map(({ name }) => name), 'reason'];
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
    return `${name} ${version} behaves like ours in ${same} and forwards invalid HTTP in ${loose}`;
  });
  return `# HTTP/1.1 compared with nginx and HAProxy

Generated by \`node test/http1/exchange_cases/compare.ts\` from ${count} exchanges on raw sockets, each with the bytes of both sides
(\`test/http1/exchange_cases/cases\`). A strict parser, which accepts a single spelling of everything, checks
what the upstream receives (\`test/http1/exchange_cases/strict_http.ts\`). ${sums.join('; ')}.

Both are configured as a plain reverse proxy: WebSocket enabled, heads of up to 16 kB, timeouts of one second. A difference is
not a fault: most are repairs that the RFC allows and ours does not make, or spellings that ours normalises.

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
