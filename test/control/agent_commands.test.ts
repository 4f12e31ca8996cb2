import { expect, test, vi } from 'vitest';
import { onlineAgents } from '../../src/control/online_agents.ts';
import { permitsAddress, permitsLabels } from '../../src/tunnel/binding/bind_request.ts';
import { newIds } from '../../src/events/identifiers.ts';
import { Agents } from '../../src/tunnel/agents.ts';
import { AUTH, CALL, handmadeAgent, labelledOf } from '../tunnel/handmade_agent.ts';

/** An agent that answers commands with these words; null: it closes the stream without any. */
async function commanded(answer: string | null, unsupported: object = {}) {
  const heard: string[] = [];
  const { agents, call } = handmadeAgent(undefined, (stream) => {
    let text = '';
    stream.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      if (!text.includes('}')) return;
      heard.push(`${text.charCodeAt(3)} ${text.slice(4)}`);
      if (answer !== '') stream.end(answer ?? undefined);
    });
  });
  const supported = { StopUnsupportedError: '', RestartUnsupportedError: '', UpdateUnsupportedError: '' };
  await call(CALL.auth, JSON.stringify({ Version: ['3'], Extra: { ...supported, ...unsupported } }));
  const online = onlineAgents(agents, 'ngrok');
  return { heard, id: agents.sessions()[0]!.id, command: online.command };
}

const COMMANDS = ['restart', 'stop', 'update'] as const;

test('times have whole seconds, as in all responses', async () => {
  const nowMs = () => Date.UTC(2026, 0, 31, 1, 2, 3, 456);
  const { agents, call } = handmadeAgent(
    new Agents({ nowMs, newId: newIds(nowMs), admit: async () => ({ credential: null, acl: [] }) }),
  );
  await call(CALL.auth, AUTH);
  await call(CALL.labelled, labelledOf({ app: 'shop' }));
  const { list } = onlineAgents(agents, 'service');
  for (const kind of ['tunnel_session', 'tunnel'] as const)
    expect(list(kind, '')[0]).toMatchObject({ started_at: '2026-01-31T01:02:03Z' });
});

test('accepted commands reach the agent, each with the body that it needs', async () => {
  const { heard, id, command } = await commanded('{}');
  for (const each of COMMANDS) expect(await command(id, each)).toBeNull();
  expect(heard).toEqual(['4 {}', '5 {}', '6 {"Version":"","PermitMajorVersion":false}']);
});

test.each([
  ['restart', 804, 807],
  ['stop', 805, 808],
  ['update', 806, 809],
] as const)(
  '%s: not supported %d, refused %d, with the words of the agent',
  async (name, unsupported, failed) => {
    const member = `${name[0]!.toUpperCase()}${name.slice(1)}UnsupportedError`;
    const without = await commanded('{}', { [member]: 'not in this build' });
    expect(await without.command(without.id, name)).toMatchObject({
      number: unsupported,
      message: expect.stringContaining('not in this build'),
    });
    expect(without.heard).toEqual([]);
    const refusing = await commanded('{"Error":"not now"}');
    expect(await refusing.command(refusing.id, name)).toMatchObject({
      number: failed,
      message: expect.stringContaining('not now'),
    });
  },
);

test('an agent that ends the call, that answers nonsense, or that is gone cannot be reached', async () => {
  for (const answer of [null, 'nonsense']) {
    const { id, command } = await commanded(answer);
    expect(await command(id, 'stop')).toMatchObject({ number: 810 });
  }
  const { command } = await commanded('{}');
  expect(await command('ts_gone', 'stop')).toMatchObject({ number: 810 });
});

test('an agent that does not answer cannot be reached after ten seconds', async () => {
  const { heard, id, command } = await commanded('');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const answer = command(id, 'stop');
    await vi.waitUntil(() => heard.length === 1);
    vi.advanceTimersByTime(9_999);
    expect(await Promise.race([answer, Promise.resolve('none')])).toBe('none');
    vi.advanceTimersByTime(1);
    expect(await answer).toMatchObject({ number: 810 });
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  // rules, address, whether it is permitted
  [[], 'any.test', 443, true],
  [['*'], 'any.test', 443, true],
  [['bind:*'], 'any.test', 5432, true],
  [['bind:shop.test'], 'shop.test', 443, true],
  [['bind:shop.test'], 'a.shop.test', 443, false],
  [['bind:shop.test'], 'shop.test', 5432, false],
  [['bind:*.shop.test'], 'a.shop.test', 443, true],
  [['bind:*.shop.test'], 'b.a.shop.test', 443, true],
  [['bind:*.shop.test'], '*.shop.test', 443, true],
  [['bind:*.shop.test'], 'shop.test', 443, false],
  [['bind:*.shop.test'], 'a.workshop.test', 443, false],
  [['bind:a.shop.test'], '*.shop.test', 443, false],
  [['bind:1.tcp.test:5432'], '1.tcp.test', 5432, true],
  [['bind:1.tcp.test:5432'], '1.tcp.test', 5433, false],
  [['bind:*.tcp.test:5432'], '1.tcp.test', 5432, true],
  [['bind:1.tcp.test'], 'tcp.localhost', null, false],
  [['bind:app=shop'], 'app=shop', 443, true],
  [['bind:app=*'], 'shop.test', 443, false],
] as const)('the rules %j permit %s:%s: %s', (acl, host, port, permitted) => {
  expect(permitsAddress(acl, host, port)).toBe(permitted);
});

test.each([
  [[], { app: 'shop' }, true],
  [['bind:*'], { app: 'shop' }, false],
  [['bind:app=shop'], { app: 'shop' }, true],
  [['bind:app=shop'], { app: 'other' }, false],
  [['bind:app=shop'], { app: 'shop', more: 'x' }, false],
  [['bind:app=*', 'bind:*=x'], { app: 'any', more: 'x' }, true],
  [['bind:shop.test'], { app: 'shop' }, false],
] as const)('the rules %j permit the labels %j: %s', (acl, labels, permitted) => {
  expect(permitsLabels(acl, labels)).toBe(permitted);
});

test('what the rules do not permit is refused with 308', async () => {
  const { call } = handmadeAgent(
    new Agents({
      nowMs: Date.now,
      newId: newIds(Date.now),
      admit: async () => ({ credential: 'cr_1', acl: ['bind:app=shop'] }),
    }),
  );
  await call(CALL.auth, JSON.stringify({ Version: ['3'], Extra: { AuthToken: 'x' } }));
  const labelled = (app: string) => call(CALL.labelled, JSON.stringify({ Labels: { app } }));
  expect(await labelled('other')).toContain('ERR_NGROK_308');
  expect(JSON.parse((await labelled('shop'))!)).toEqual({ Id: expect.any(String) });
  const bind = { Proto: 'https', Opts: { Domain: 'a.test' }, Extra: {} };
  expect(await call(CALL.bind, JSON.stringify(bind))).toContain('ERR_NGROK_308');
});
