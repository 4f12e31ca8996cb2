import { describe, expect, it } from 'vitest';
import { coverageOf, coveredEdge } from '../../src/coverage/coverage.ts';
import { findCases } from '../../src/simulator/search/cover_points.ts';
import { emittedCases } from '../../src/simulator/search/emit.ts';
import { coverScenario, explainWhyNot } from '../../src/simulator/search/library.ts';
import { edgeproof } from '../cli/command.ts';
import { folderWith } from '../folder.ts';
import { edgeOf, runCases, told } from './covered.ts';

const LABELS = { app: 'shop' };
const route = (match: string, backend: string) => ({
  match_type: 'path_prefix',
  match,
  backend: { backend_id: backend },
});
const EDGE = edgeOf({
  backends: {
    shop: { tunnel_group: { labels: LABELS } },
    blue: { tunnel_group: { labels: { app: 'blue' } } },
    spare: { http_response: { status_code: 200 } },
    safe: { failover: ['shop', 'spare'] },
    twice: { failover: ['shop', 'blue'] },
    split: { weighted: { shop: 1, spare: 1 } },
    never: { weighted: { shop: 0, spare: 1 } },
  },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [
          route('/', 'shop'),
          route('/safe', 'safe'),
          route('/twice', 'twice'),
          route('/split', 'split'),
          route('/never', 'never'),
        ],
      },
    },
  },
});

describe('coverage of backends of agents', () => {
  it('has a point for a backend without an agent, unless it cannot happen', () => {
    const points = coverageOf(coveredEdge(EDGE)).points.filter(({ id }) => id.endsWith(' backend.offline'));
    expect(points.map(({ message, impossible }) => [message, impossible])).toEqual([
      ['no agent is online for /', null],
      ['no agent is online for /safe', 'spare needs no agent'],
      ['no agent is online for /twice', null],
      ['no agent is online for /split', null],
      ['no agent is online for /never', 'spare needs no agent'],
    ]);
  });

  it('counts agents that respond, and that are offline', () => {
    const covered = coveredEdge(EDGE);
    const agents = { a: { labels: LABELS } };
    runCases(covered, [
      { agents, request: 'GET /', expect: { agent: 'a' } },
      { request: 'GET /', expect: { status: 503 } },
    ]);
    const hit = coverageOf(covered).points.filter(({ kind, hits }) => kind === 'backends' && hits > 0);
    expect(hit.map(({ message }) => message)).toEqual(['shop is tried for /', 'no agent is online for /']);
  });

  it('is completed by cases that say who is online, and pass', () => {
    const covered = coveredEdge(EDGE);
    const { cases, points } = emittedCases(covered, findCases(covered, []), { edge: 'edge' });
    const open = coverageOf(covered).points.filter(
      ({ kind, impossible }) => kind === 'backends' && impossible === null,
    );
    const found = new Set(points.map(({ id }) => id));
    expect(open.filter(({ id }) => !found.has(id)).map(({ message }) => message)).toEqual([]);
    const again = coveredEdge(EDGE);
    expect(runCases(again, cases).cases.filter(({ status }) => status !== 'passed')).toEqual([]);
  });
});

describe('--why-not', () => {
  it('knows that an agent has to be offline', () => {
    const found = explainWhyNot(EDGE, 'GET https://shop.test/', 'backend.offline');
    expect(found).toMatchObject({ verdict: 'changes', changes: ['with shop and blue offline'] });
  });
});

const OFFICE = {
  on_http_request: [{ name: 'office', expressions: ["req.method == 'PUT'"], actions: [{ type: 'deny' }] }],
};

describe('endpoints that agents bind', () => {
  const agents = { laptop: { url: 'https://app.test', traffic_policy: OFFICE } };
  const reached = { name: 'reached', request: 'GET https://app.test/', expect: { agent: 'laptop' } };

  it('count as edges do, and offered cases reach what no case did', () => {
    const covered = coverScenario(EDGE, { agents, cases: [reached] });
    const hosts = { 'a request is sent to shop.test': false, 'a request is sent to app.test': true };
    expect(told(covered, 'hosts')).toEqual(hosts);
    expect(told(covered, 'rules')).toEqual({ 'rule office applies': false });
    expect(told(covered, 'backends')).toMatchObject({ 'ep_laptop is tried for /': true });
    const { cases } = covered.emit();
    const office = cases.find(({ request }) => (request as { method?: string }).method === 'PUT');
    expect(office).toMatchObject({ agents, request: { host: 'app.test' }, expect: { status: 403 } });
    const again = coverScenario(EDGE, { agents, cases: [reached, ...cases] });
    expect(again.cases.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(told(again, 'rules')).toEqual({ 'rule office applies': true });
  });

  it('count for each agent of a case of its own, and not for one whose options change', () => {
    const other = { ...reached, name: 'other', agents: { tower: { url: 'https://app.test' } } };
    const first = { ...reached, agents };
    const cases = [first, { ...other, expect: { agent: 'tower' } }];
    const lines = (given: readonly object[]) =>
      coverScenario(EDGE, { cases: given }).points.flatMap(({ kind, pointer, hits }) =>
        kind === 'hosts' && pointer.includes('ep_') ? [[pointer.split('/')[3], hits]] : [],
      );
    const both = [['ep_laptop', 1], ['ep_tower', 1]]; // prettier-ignore
    expect(lines(cases)).toEqual(both);
    const changed = { laptop: { ...agents.laptop, traffic_policy: undefined, compression: true } };
    expect(lines([...cases, { ...first, name: 'changed', agents: changed }])).toEqual([both[1]]);
  });

  const folder = folderWith({
    'edge.yaml': JSON.stringify({
      edges: { tls: { db: { hostports: ['db.test:443'], backend: { backend_id: 'db' } } } },
      backends: { db: { static: { address: 'localhost:1' } } },
    }),
    'a.scenario.yaml': JSON.stringify({
      edge: 'edge.yaml',
      agents,
      cases: [reached, { name: 'unknown', request: 'GET https://b.test/', expect: { status: 404 } }],
    }),
  });
  const run = async (...args: string[]) => (await edgeproof(args, folder)).stdout;

  it('are known to explain, --why-not and cover, on the command line', async () => {
    const url = ['GET', 'https://app.test/x', '--agent', 'https://app.test'];
    expect(await run('explain', ...url)).toContain('200 → backend ep_agent-1 through tunnel agent-1');
    expect(await run('explain', ...url, '--why-not', 'ep_agent-1')).toBe(
      'backend ep_agent-1 is tried for this request.\n',
    );
    const ofCase = ['--scenario', 'a.scenario.yaml', '--case', 'reached'];
    expect(await run('explain', ...ofCase, '--why-not', 'office')).toMatch(
      /^It would need 1 change:\n {2}with method PUT\n/,
    );
    expect(await run('cover', 'a.scenario.yaml')).toContain('try: PUT https://app.test/');
  });

  it('are named as a cure where no edge has the address', async () => {
    const hint = 'hint: if an agent binds it, say that it is online: ';
    expect(await run('explain', 'GET', 'http://b.test:8080/x?y')).toContain(`${hint}--agent http://b.test\n`);
    expect(await run('explain', '--connect', '1.tcp.test:5432')).toContain(
      `${hint}--agent tcp://1.tcp.test:5432\n`,
    );
    expect(await run('explain', '--connect', 'x.test:443')).toContain(`${hint}--agent tls://x.test\n`);
    expect(await run('explain', 'GET', 'https://b.internal/')).toContain(
      "hint: 'b.internal' is reached by forward-internal only, and not by clients\n",
    );
    expect(JSON.parse(await run('explain', 'GET', 'https://b.test/', '--json'))).toMatchObject({
      hint: 'if an agent binds it, say that it is online: --agent https://b.test',
    });
    expect(await run('explain', '--scenario', 'a.scenario.yaml', '--case', 'unknown')).toContain(
      `${hint}agents: { laptop: { url: 'https://b.test' } }\n`,
    );
  });
});
