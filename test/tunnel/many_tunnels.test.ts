import { expect, test } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { readBind } from '../../src/tunnel/binding/bind_request.ts';
import { EndpointTable, type PlacedBind } from '../../src/tunnel/binding/endpoint_table.ts';
import { Members } from '../../src/tunnel/binding/members.ts';
import { edgeWithAgents } from './agent.ts';
import { AUTH, CALL, bindOf, handmadeAgent, labelledOf } from './handmade_agent.ts';
import { visited } from './visited.ts';

const OF_SESSION = 2_000;
const IN_ALL = 10_000;
const IN_POOL = 100;

async function sessionOf(agents?: Parameters<typeof handmadeAgent>[0]) {
  const agent = handmadeAgent(agents);
  await agent.call(CALL.auth, AUTH);
  const asked = async (
    type: number,
    text: string,
  ): Promise<{ readonly Id?: string; readonly Error?: string }> =>
    JSON.parse((await agent.call(type, text))!);
  return { ...agent, asked };
}

const LABELLED = labelledOf({ app: 'shop' });

test(`a session has at most ${OF_SESSION} tunnels: the next one is refused with 324, until one is closed`, async () => {
  const { asked, call, agents } = await sessionOf();
  let last = '';
  for (let made = 0; made < OF_SESSION; made++) last = (await asked(CALL.labelled, LABELLED)).Id!;
  const refused = `The session has ${OF_SESSION} tunnels, which is the limit.\r\n\r\nERR_NGROK_324\r\n`;
  expect(await asked(CALL.labelled, LABELLED)).toEqual({ Error: refused });
  expect(await asked(CALL.bind, bindOf('one.localhost'))).toEqual({ Error: refused });
  expect(agents.tunnels.size).toBe(OF_SESSION);
  await call(CALL.unbind, JSON.stringify({ Id: last }));
  expect(await asked(CALL.labelled, LABELLED)).toEqual({ Id: expect.stringMatching(/^tn_/) });
});

test(`there are at most ${IN_ALL} tunnels in all: the next one is refused with 324`, async () => {
  const first = await sessionOf();
  const { agents } = first;
  const sessions = [first];
  while (sessions.length < IN_ALL / OF_SESSION) sessions.push(await sessionOf(agents));
  for (const { asked } of sessions)
    for (let made = 0; made < OF_SESSION; made++) await asked(CALL.labelled, LABELLED);
  const other = await sessionOf(agents);
  const refused = `There are ${IN_ALL} tunnels in all, which is the limit.\r\n\r\nERR_NGROK_324\r\n`;
  expect(await other.asked(CALL.labelled, LABELLED)).toEqual({ Error: refused });
  first.session.close('it leaves');
  await expect.poll(() => agents.tunnels.size).toBe(IN_ALL - OF_SESSION);
  expect(await other.asked(CALL.labelled, LABELLED)).toEqual({ Id: expect.stringMatching(/^tn_/) });
});

/** With as many entries in each node of a persistent map, whose nodes are copied. */
const BEFORE = 30;
const AFTER = 960;
const MEASURED = 10;

/** So few that each is full: all agents are in pools as large as there can be. */
const POOLS = Math.ceil((AFTER + MEASURED) / IN_POOL);
const optionsOf = (at: number): object => ({ RequestHeaders: { add: [`x-agent:${at}`] } });

const KINDS: Readonly<Record<string, (at: number) => readonly [type: number, text: string]>> = {
  'an HTTPS endpoint': (at) => [CALL.bind, bindOf(`h${at}.localhost`)],
  'an HTTPS endpoint with a policy': (at) => [
    CALL.bind,
    bindOf(`p${at}.localhost`, { TrafficPolicy: '{"on_http_request":[{"actions":[{"type":"deny"}]}]}' }),
  ],
  'a member of a pool': () => [CALL.bind, bindOf('pool.localhost', {}, true)],
  'a member of a pool with options of its own': (at) => [
    CALL.bind,
    bindOf(`pool${at % POOLS}.localhost`, optionsOf(at), true),
  ],
  'an internal endpoint': (at) => [CALL.bind, bindOf(`h${at}.internal`)],
  'a tunnel with labels': (at) => [CALL.labelled, labelledOf({ app: `shop${at}` })],
};

test.each(Object.entries(KINDS))(
  'the work for %s does not grow with the number of tunnels',
  async (_name, requestOf) => {
    const { agents } = await edgeWithAgents();
    const { asked } = await sessionOf(agents);
    let at = 0;
    const more = async (count: number): Promise<string[]> => {
      const ids: string[] = [];
      for (let made = 0; made < count; made++) ids.push((await asked(...requestOf(at++))).Id!);
      return ids;
    };
    const work = async (): Promise<number> => {
      const counts = await visited(async () => {
        for (const Id of await more(MEASURED)) await asked(CALL.unbind, JSON.stringify({ Id }));
      });
      return counts / MEASURED;
    };
    await more(BEFORE);
    const few = await work();
    await more(AFTER - BEFORE);
    const many = await work();
    expect(agents.tunnels.size).toBe(AFTER);
    // Tables have one level more. Whatever visits all tunnels once visits more than that.
    expect(many - few).toBeLessThan(AFTER - BEFORE);
  },
  60_000,
);

test(`a pool has at most ${IN_POOL} sets of options: the next one is refused with 334, until one is gone`, async () => {
  const { agents } = await edgeWithAgents();
  const { asked } = await sessionOf(agents);
  const bind = (at: number) => asked(CALL.bind, bindOf('pool.localhost', optionsOf(at), true));
  let last = '';
  for (let made = 0; made < IN_POOL; made++) last = (await bind(made)).Id!;
  const { url } = agents.endpoints.all()[0]!;
  expect(await bind(IN_POOL)).toEqual({
    Error: `The pool of '${url}' has agents with ${IN_POOL} different sets of options, which is the limit.\r\n\r\nERR_NGROK_334\r\n`,
  });
  expect(await bind(0)).toEqual(expect.objectContaining({ Id: expect.stringMatching(/^tn_/) }));
  await asked(CALL.unbind, JSON.stringify({ Id: last }));
  expect(await bind(IN_POOL)).toEqual(expect.objectContaining({ Id: expect.stringMatching(/^tn_/) }));
});

test('the options of all endpoints together are limited: the next endpoint is refused with 324, until one is gone', () => {
  const table = new EndpointTable();
  const base = createEdge({ edges: {} }).config;
  const TrafficPolicy = '#'.repeat(1_000_000);
  const place = (at: number) => {
    const Opts = { Domain: `a${at}.localhost`, TrafficPolicy };
    const bind = readBind(new Members({ Proto: 'https', Opts })) as PlacedBind;
    const around = { base, pooled: new Set<string>(), newId: () => `ep_${at}`, nowMs: 0 };
    return table.place(bind, { ...around, configOf: () => base });
  };
  let last = place(0);
  let count = 0;
  while (!('number' in last)) last = place(++count);
  expect([last.number, count]).toEqual([324, 33]);
  table.release('ep_0');
  expect(place(count)).toMatchObject({ tunnels: 0 });
});
