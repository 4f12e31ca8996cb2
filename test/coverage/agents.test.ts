import { describe, expect, it } from 'vitest';
import { coverageOf, coveredEdge } from '../../src/coverage/coverage.ts';
import { findCases } from '../../src/simulator/search/cover_points.ts';
import { emittedCases } from '../../src/simulator/search/emit.ts';
import { explainWhyNot } from '../../src/simulator/search/library.ts';
import { edgeOf, runCases } from './covered.ts';

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
