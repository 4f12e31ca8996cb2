import { pathToFileURL } from 'node:url';
import { Decided, type Decision } from '../src/decision.ts';
import { beginGiven } from '../src/edge/connect.ts';
import type { RequestHead } from '../src/engine/contract.ts';
import type { Answers, Question } from '../src/engine/questions.ts';
import { decideWithConstants } from '../src/engine/drivers/constant.ts';
import { connectionOf, headOf } from '../src/engine/request_like.ts';
import { type Edge, createEdge } from '../src/edgeproof.ts';
import { idMaker } from '../src/events/identifiers.ts';
import { type BenchSection, compare, picked, render, row } from './measure.ts';
import { eventByHand, handWritten } from './decisions_by_hand.ts';

const NOW_MS = 1_800_000_000_000;
const RULES = 1_000;
const HEADS = 64;
const MASK = HEADS - 1;

/** Every module of the first version on one of 200 routes, like a grown configuration. */
function configuration(): object {
  const rules = Array.from({ length: RULES }, (_, at) => ({
    cidr: `10.${at >> 8}.${at & 255}.0/24`,
    action: 'allow',
  }));
  const everything = {
    match_type: 'path_prefix',
    match: '/shop',
    ip_restriction: { ip_policy_ids: ['office'] },
    user_agent_filter: { deny: ['(?i)bot', '(?i)crawler', '^curl/[0-6]\\.'] },
    circuit_breaker: {},
    request_headers: { add: { 'x-edge': 'a', 'x-zone': 'b' }, remove: ['x-internal'] },
    response_headers: { add: { 'x-served-by': 'edge' }, remove: ['server'] },
    compression: {},
    backend: { backend_id: 'canary' },
  };
  const others = Array.from({ length: 199 }, (_, at) => ({
    match_type: 'path_prefix',
    match: `/other/${at}`,
    backend: { backend_id: 'app' },
  }));
  return {
    ip_policies: { office: { rules: [...rules, { cidr: '203.0.113.0/24', action: 'allow' }] } },
    backends: {
      app: { static: { address: '127.0.0.1:3000' } },
      next: { static: { address: '127.0.0.1:3001' } },
      canary: { weighted: { app: 9, next: 1 } },
    },
    edges: { https: { shop: { hostports: ['shop.test:443'], routes: [everything, ...others] } } },
  };
}

/** Heads like a browser's, from many agents to many pages. */
function heads(): RequestHead[] {
  return Array.from({ length: HEADS }, (_, at) => {
    const head = headOf({
      url: `https://shop.test/shop/items/${at * 37}?page=${at}`,
      headers: {
        'user-agent': `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${100 + at}.0.0.0 Safari/537.36`,
        accept: 'text/html,application/xhtml+xml',
        'accept-encoding': 'gzip, deflate, br',
        'accept-language': 'en-US,en;q=0.9',
        cookie: `session=${at}; theme=dark`,
        referer: 'https://shop.test/',
        'cache-control': 'max-age=0',
      },
    });
    if ('refused' in head) throw new Error(head.message);
    return head;
  });
}

const UPSTREAM: Answers['forward'] = {
  head: {
    status: 200,
    headers: [
      'content-type',
      'text/html',
      'date',
      'Sat, 21 Nov 2026 00:00:00 GMT',
      'server',
      'app',
      'content-length',
      '1024',
    ],
  },
  reused: true,
};

function makeEdge(): Edge {
  let turn = 0;
  // Random numbers are cheap and fixed, so that only the edge is measured.
  return createEdge(configuration(), {
    clock: () => NOW_MS,
    random: () => (turn = (turn + 0.618_033_988) % 1),
  });
}

/** A whole decision, compared with hand-written code for this one configuration. */
export async function run(): Promise<BenchSection> {
  const edge = makeEdge();
  const connection = connectionOf({ clientIp: '203.0.113.9' }, 'https', NOW_MS);
  const requests = heads();
  const byHand = handWritten();
  const { runtime } = edge;
  const newEventId = idMaker('ev', () => runtime.world.random());
  let forwarded: object = {};
  // The fields for the upstream are made when the question is read, as by every driver that forwards.
  const seen = (question: Question): void => {
    if (question.ask === 'forward') forwarded = question.request;
  };
  const decide = (turn: number): Decision => {
    const begun = beginGiven(runtime.current(), connection, requests[turn & MASK]!, runtime.world);
    return new Decided(decideWithConstants(begun, UPSTREAM, seen), newEventId);
  };
  const check = decide(0);
  if (check.status !== 200 || check.trace.length < 9 || !JSON.stringify(forwarded).includes('x-zone'))
    throw new Error('the measured request is not decided by every module');
  const decideByHand = (turn: number) => byHand(requests[turn & MASK]!, connection.client.text);
  const measured = compare({
    decision: (turn) => decide(turn).status,
    event: (turn) => decide(turn).event,
    trace: (turn) => {
      const decision = decide(turn);
      return [decision.event, decision.trace];
    },
    hand: (turn) => decideByHand(turn).request,
    handEvent: (turn) => eventByHand(decideByHand(turn)),
  });
  return {
    between:
      'no work is left out: what is between the empty call and ours is what ours does, and by hand the same for one configuration',
    title: 'Whole decisions: all modules of the first version on, 200 routes, 1,000 CIDRs, 3 patterns',
    rows: [
      row('decision', picked(measured, { ours: 'decision', 'by hand': 'hand' })),
      row('decision with its event', picked(measured, { ours: 'event', 'by hand': 'handEvent' })),
      row(
        'decision with event and full trace',
        picked(measured, { ours: 'trace', 'by hand, without trace': 'handEvent' }),
      ),
    ],
    notes: [
      `with the event: ${perSecond(measured['event']!)} decisions a second on one core (goal 1,000,000)`,
      `with event and trace: ${perSecond(measured['trace']!)} (goal 700,000)`,
      'all make the fields of the request to the upstream; by hand: the same checks and the same event for this one configuration, without reasons, trace or reload',
    ],
  };
}

function perSecond(nanoseconds: number): string {
  return Math.round(1e9 / nanoseconds).toLocaleString('en');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(render(await run()));
