import { get } from 'node:http';
import { expect, test } from 'vitest';
import { edgeWithAgents } from './agent.ts';
import { AUTH, CALL, bindOf, handmadeAgent } from './handmade_agent.ts';

interface Bound {
  readonly id: string;
  readonly token: string;
  readonly error: string | undefined;
}

/** An edge where each token is a credential of its own, and agents that bind with the id and the token that they say. */
async function edgeOfMany() {
  const { agents, listening } = await edgeWithAgents(
    {},
    { admit: async (token) => ({ credential: token, acl: [] }) },
  );
  const agentOf = async (credential: string) => {
    const heads: { readonly Id: string }[] = [];
    const agent = handmadeAgent(agents, (stream) => {
      stream.once('data', (bytes: Buffer) => {
        const end = 12 + Number(bytes.readBigInt64LE(4));
        heads.push(JSON.parse(bytes.subarray(12, end).toString()));
        stream.end('HTTP/1.1 204 No Content\r\n\r\n');
      });
      stream.resume();
    });
    await agent.call(CALL.auth, AUTH.replace('"x"', JSON.stringify(credential)));
    const bind = async (host: string, Id = '', Token = '') => {
      const request = JSON.parse(bindOf(host));
      const extra = { ...request.Extra, Token };
      const text = await agent.call(CALL.bind, JSON.stringify({ ...request, Id, Extra: extra }));
      const bound = JSON.parse(text!);
      return { id: bound.Id, token: bound.Extra?.Token, error: bound.Error } as Bound;
    };
    const ends = async (): Promise<void> => {
      agent.session.close('the test ends it');
      await expect.poll(() => agents.sessions().some(({ session }) => session === agent.session)).toBe(false);
    };
    return { ...agent, heads, bind, ends };
  };
  const status = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get(listening.url, { agent: false, headers: { host } }, (got) => resolve(got.resume().statusCode)).on(
        'error',
        reject,
      );
    });
  return { agents, agentOf, status };
}

test('the id of a tunnel is given again for the token of its first bind', async () => {
  const { agents, agentOf, status } = await edgeOfMany();
  const first = await agentOf('ann');
  const { id, token } = await first.bind('a.test');
  await first.ends();
  const again = await agentOf('ann');
  expect(await again.bind('a.test', id, token)).toEqual({ id, token, error: undefined });
  expect(agents.tunnels.get(id)?.session).toBe(again.session);
  expect(await status('a.test')).toBe(204);
  expect(again.heads).toMatchObject([{ Id: id }]);
});

test.each(['with its token', 'without its token'])(
  'another credential gets no tunnel by its id, %s',
  async (how) => {
    const { agents, agentOf, status } = await edgeOfMany();
    const owner = await agentOf('ann');
    const { id, token } = await owner.bind('a.test');
    await owner.ends();
    const other = await agentOf('bob');
    // Its agent goes on to call the tunnel by this id, whatever the response says.
    const theirs = await other.bind('b.test', id, how === 'with its token' ? token : '');
    expect(theirs).toMatchObject({ id, error: undefined });
    expect(theirs.token).not.toBe(token);
    expect(agents.tunnels.get(id)).toBeUndefined();

    const back = await agentOf('ann');
    expect((await back.bind('a.test', id, token)).error).toBeUndefined();
    expect(agents.tunnels.get(id)?.session).toBe(back.session);
    expect([await status('a.test'), await status('b.test')]).toEqual([204, 204]);
    expect([back.heads, other.heads]).toMatchObject([[{ Id: id }], [{ Id: id }]]);

    // Either closes its own only.
    await other.call(CALL.unbind, JSON.stringify({ Id: id }));
    expect([await status('a.test'), await status('b.test')]).toEqual([204, 404]);
    expect(agents.tunnels.all().map((tunnel) => tunnel.id)).toEqual([id]);
  },
);

test('an id without its token stands for the same tunnel each time', async () => {
  const { agents, agentOf } = await edgeOfMany();
  const idsOf = async (name: string): Promise<string[]> => {
    const agent = await agentOf('ann');
    await agent.bind('a.test', name, 'from an edge that has ended');
    const ids = agents.tunnels.all().map(({ id }) => id);
    await agent.ends();
    return ids;
  };
  const [once, twice, another] = [await idsOf('tn_old'), await idsOf('tn_old'), await idsOf('tn_older')];
  expect(once).toEqual([expect.stringMatching(/^tn_[0-9a-f]{32}$/)]);
  expect(twice).toEqual(once);
  expect(another).not.toEqual(once);
});

test('an agent cannot call two tunnels the same, with or without labels', async () => {
  const { agents, agentOf } = await edgeOfMany();
  const agent = await agentOf('ann');
  await agent.bind('a.test', 'tn_1');
  expect((await agent.bind('b.test', 'tn_1')).error).toMatch(/'tn_1' is already online.*ERR_NGROK_334/s);
  const labelled = JSON.parse((await agent.call(CALL.labelled, '{"Labels":{"app":"x"}}'))!) as { Id: string };
  expect((await agent.bind('b.test', labelled.Id)).error).toMatch(/ERR_NGROK_334/);
  expect(agents.tunnels.size).toBe(2);
  await agent.ends();
  await expect.poll(() => agents.tunnels.size).toBe(0);
});
