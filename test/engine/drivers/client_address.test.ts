import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/engine/exchange.ts';
import { compileEdge } from '../../../src/edge/compile.ts';
import { beginExchange, refuseExchange } from '../../../src/edge/begin_exchange.ts';
import { checkWholeEdge } from '../../../src/edge/semantic_checks.ts';
import {
  connectionOf,
  engineExchangePort,
  isClientKnown,
} from '../../../src/engine/drivers/engine_exchange_port.ts';
import type { ConnectionFacts } from '../../../src/engine/drivers/exchange_port.ts';
import { oneRoute } from '../../one_route.ts';

const facts = (clientAddress: string): ConnectionFacts => ({
  clientAddress,
  clientPort: 50_000,
  serverAddress: 'fe80::2%eth0',
  serverPort: 443,
  serverName: '',
  startMs: 0,
  tls: null,
});

const rules = [
  { cidr: '0.0.0.0/0', action: 'allow' },
  { cidr: '::/0', action: 'allow' },
  { cidr: 'fe80::/10', action: 'deny' },
];

/** The status, and its reason, that the live listener gives a request from a client. */
function asked(clientAddress: string) {
  const config = oneRoute(
    { ip_restriction: { ip_policy_ids: ['all_but_links'] } },
    { ip_policies: { all_but_links: { rules } } },
  );
  const edge = compileEdge(checkWholeEdge({ value: config }).config!, (_route, _module, _config, initial) =>
    initial(),
  );
  const world = { nowMs: () => 0, random: () => 0 };
  const exchanges = engineExchangePort({
    nowMs: world.nowMs,
    branding: () => edge.branding,
    begin: (connection, head) => beginExchange(edge, connection, head, world),
    refuse: (connection, head, reason) => refuseExchange(edge, connection, head, world, reason),
    finished: () => undefined,
  });
  const exchange = exchanges.begin({
    head: { method: 'GET', target: '/', version: '1.1', scheme: 'https', headers: ['host', 'shop.test'] },
    connection: facts(clientAddress),
  });
  const question = exchanges.next(exchange);
  const { routed } = exchange as Exchange;
  return {
    ask: question?.ask,
    status: question?.ask === 'reply' ? question.reply.status : 0,
    routed: routed.code,
  };
}

describe('the address of a client', () => {
  it('is read once for the facts of a connection, and again for a copy with another address', () => {
    const original = facts('192.0.2.1');
    const read = connectionOf(original);
    expect(connectionOf(original)).toBe(read);
    expect(connectionOf({ ...original, clientAddress: '192.0.2.2' }).client.text).toBe('192.0.2.2');
    expect(connectionOf(original)).toBe(read);
  });

  it.each(['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1'])('accepts %s', (address) => {
    expect(asked(address)).toMatchObject({ ask: 'forward' });
  });

  it.each(['fe80::1', 'fe80::1%eth0', 'fe80::1:2:3%en0', 'febf::1%17'])(
    'denies a link-local one: %s',
    (address) => {
      expect(asked(address)).toMatchObject({ status: 403, routed: 'route.matched' });
    },
  );

  it.each(['', 'unix:', 'fe80::1%', '%eth0', '192.0.2.1%eth0', '1.2.3', 'fe80:::1%eth0', '[fe80::1]'])(
    'stops the request if it cannot be read: %j',
    (address) => {
      expect(isClientKnown(facts(address))).toBe(false);
      expect(asked(address)).toMatchObject({ status: 403, routed: 'request.client_unknown' });
    },
  );

  it('has no zone afterwards, and neither has the server’s', () => {
    expect(connectionOf(facts('fe80::1%eth0'))).toMatchObject({
      client: { text: 'fe80::1', family: 6 },
      serverIp: 'fe80::2',
    });
  });
});
