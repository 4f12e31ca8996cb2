import { randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { parseAddress } from '../src/net/address.ts';
import type { Connection, RequestHead } from '../src/engine/contract.ts';
import { authenticate } from '../src/auth/authenticate.ts';
import { isConversation } from '../src/auth/conversation.ts';
import type { LoginGate } from '../src/auth/gate.ts';
import { readLoginKeys } from '../src/auth/keys.ts';
import { loginMemory } from '../src/auth/memory.ts';
import { oauthProvider } from '../src/auth/oauth/provider.ts';
import { loginRegistry } from '../src/auth/registry.ts';
import { type Session, openSession, sealSession } from '../src/auth/session.ts';
import { bareCipher } from './floors.ts';
import { type BenchSection, compare, render, row } from './measure.ts';

const NOW_MS = 1_811_851_200_000;
const GOAL_NS = 15_000;
const KEY = randomBytes(32);
const KEYS = readLoginKeys([KEY.toString('base64')])!;
const ROUTE = 'app path_prefix /';
const PLACE = {
  cookie: '__Host-service.session',
  host: 'app.test',
  gate: JSON.stringify([ROUTE, 'oauth github', 'a']),
};
const WORLD = { nowMs: () => NOW_MS, random: () => 0.5 };

const SESSION: Session = {
  id: 'abcdefghijklmnopqrstuv',
  provider: 'oauth github',
  user: { id: '12345678', name: 'Alice Example', email: 'alice@example.test', groups: [] },
  startMs: NOW_MS - 60_000,
  seenMs: NOW_MS - 500,
  checkedMs: NOW_MS - 60_000,
  providerSession: null,
  tokens: null,
  untilMs: null,
  lists: '',
};

const GATE: LoginGate = {
  gate: ROUTE,
  realm: 'service',
  provider: oauthProvider({
    provider: 'github',
    clientId: 'a',
    clientSecret: 'b',
    scopes: [],
    parameters: {},
    criteria: { emailAddresses: [], emailDomains: [], teams: [], organizations: [] },
    standIn: null,
    userAgent: 'service',
  }),
  keys: KEYS,
  registry: loginRegistry(),
  times: { inactivityMs: 3_600_000, maximumMs: 86_400_000, checkMs: 3_600_000 },
  base: '/auth/',
  loginPath: 'authn',
  sessionCookie: 'service.session',
  nonceCookie: 'service.nonce',
  cookieDomain: null,
  optionsPass: 'none',
  identityPrefix: 'service-auth-',
  givesTokens: false,
  code: (reason) => `oauth.${reason}`,
};

/** A request like a browser's, with other cookies besides the session's. */
function requestWith(sealed: string): RequestHead {
  const cookie = `theme=dark; _ga=GA1.2.1234567890.1700000000; ${PLACE.cookie}=${sealed}; lang=en`;
  const headers = ['host', 'app.test', 'user-agent', 'Mozilla/5.0', 'accept', 'text/html', 'cookie', cookie];
  return {
    method: 'GET',
    scheme: 'https',
    host: 'app.test',
    authority: 'app.test',
    path: '/page',
    query: undefined,
    sentTarget: '/page',
    version: '1.1',
    headers,
  };
}

/**
 * An authenticated request: the cookie is decrypted, its times and revocation are checked, the identity headers are
 * made.
 */
export async function run(): Promise<BenchSection> {
  const sealed = sealSession(KEYS, SESSION, PLACE, WORLD);
  const request = requestWith(sealed);
  const client = parseAddress('203.0.113.9')!;
  const connection: Connection = {
    client,
    clientPort: 1,
    serverIp: '127.0.0.1',
    serverPort: 443,
    serverName: 'app.test',
    startMs: NOW_MS,
    tls: null,
  };
  const memory = loginMemory();
  const admitOnce = () => {
    const outcome = authenticate(GATE, request, connection, memory, WORLD);
    if (isConversation(outcome) || outcome.verdict !== 'pass') throw new Error('the request is not let in');
    return outcome;
  };
  admitOnce();
  const bare = bareCipher(JSON.stringify(SESSION).length);
  const rows = [
    row('authenticated request, whole', compare({ ours: admitOnce, 'AES-GCM alone': bare.open })),
    row(
      'cookie opened',
      compare({ ours: () => openSession(KEYS, sealed, PLACE), 'AES-GCM alone': bare.open }),
    ),
    row(
      'cookie sealed',
      compare({ ours: () => sealSession(KEYS, SESSION, PLACE, WORLD), 'AES-GCM alone': bare.seal }),
    ),
  ];
  const { ours } = rows[0]!;
  const jose = await joseNs();
  return {
    title: 'Logins',
    floors: ['AES-GCM alone'],
    between: 'base64url and JSON, the times of the session, its revocation, and the identity headers',
    rows,
    notes: [
      `An authenticated request costs ${(ours / 1_000).toFixed(1)} µs; the goal is 15 µs: ${ours <= GOAL_NS ? 'met' : 'MISSED'}.`,
      `An encrypted JWT of the same session (jose, dir and A256GCM) takes ${(jose / 1_000).toFixed(1)} µs to open.`,
    ],
  };
}

/** The same claims as an encrypted JWT, as session cookies of many frameworks are. It is asynchronous. */
async function joseNs(): Promise<number> {
  const claims = { ...SESSION, tokens: null } as Record<string, unknown>;
  const token = await new EncryptJWT(claims).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(KEY);
  const turns = 3_000;
  for (let turn = 0; turn < 500; turn++) await jwtDecrypt(token, KEY);
  const began = process.hrtime.bigint();
  for (let turn = 0; turn < turns; turn++) await jwtDecrypt(token, KEY);
  return Number(process.hrtime.bigint() - began) / turns;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(render(await run()));
}
