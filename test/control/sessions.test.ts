import { describe, expect, it } from 'vitest';
import type { Online } from '../../src/control/api/contract.ts';
import { commandAgent, listOnline, readOnline } from '../../src/control/api/sessions.ts';

const WHOLE = { beforeId: undefined, filter: undefined, chosen: [] };

describe('tunnel sessions, over the port', () => {
  const session = {
    id: 'ts_1',
    agent_version: '3.0.0',
    credential: { id: 'cr_1', uri: 'x' },
    ip: '192.0.2.1',
    os: 'linux',
    region: 'us',
    started_at: '2026-01-01T00:00:00Z',
    transport: 'service/2',
  };
  const commands: string[] = [];
  const online: Online = {
    list: (kind) => (kind === 'tunnel_session' ? [{ ...session, id: 'ts_2' }, session] : []),
    command: async (id, command) => {
      commands.push(`${command} ${id}`);
      return command === 'restart' ? { number: 804, message: 'The agent does not support restart' } : null;
    },
  };
  const asking = { base: 'http://x.test', principal: null as never };
  const resource = {
    kind: 'tunnel_session',
    title: 'tunnel session',
    path: '/tunnel_sessions',
    prefix: 'ts',
  } as const;

  const page = async (query: Parameters<typeof listOnline>[3]): Promise<unknown> =>
    JSON.parse((await listOnline(online, resource, asking, query)).text);

  it('are listed by page and read', async () => {
    expect(await page({ limit: 1, ...WHOLE })).toMatchObject({
      tunnel_sessions: [{ id: 'ts_2', uri: 'http://x.test/tunnel_sessions/ts_2' }],
      next_page_uri: 'http://x.test/tunnel_sessions?before_id=ts_2&limit=1',
      uri: 'http://x.test/tunnel_sessions',
    });
    expect(await page({ limit: 1, beforeId: 'ts_2', filter: undefined, chosen: [] })).toMatchObject({
      tunnel_sessions: [{ id: 'ts_1' }],
      next_page_uri: null,
    });
    expect(readOnline(online, resource, asking, 'ts_1')).toEqual({
      ...session,
      uri: 'http://x.test/tunnel_sessions/ts_1',
    });
  });

  it('have their keys in alphabetical order', () => {
    const keys = Object.keys(readOnline(online, resource, asking, 'ts_1'));
    expect(keys).toEqual(keys.toSorted());
  });

  it('accept commands or return errors', async () => {
    await commandAgent(online, 'ts_1', 'stop');
    await commandAgent(online, 'ts_1', 'update');
    await expect(commandAgent(online, 'ts_1', 'restart')).rejects.toMatchObject({ status: 400, number: 804 });
    await expect(commandAgent(online, 'ts_9', 'stop')).rejects.toMatchObject({ status: 404, number: 222 });
    expect(commands).toEqual(['stop ts_1', 'update ts_1', 'restart ts_1']);
  });
});
