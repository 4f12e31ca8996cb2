import { expect, test } from 'vitest';
import { hitCounter } from '../../src/coverage/measure.ts';
import { pointsOf } from '../../src/coverage/points.ts';
import { recorder } from '../../src/coverage/recorder.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { plainDraft } from '../../src/simulator/search/draft.ts';
import { openPoints } from '../../src/simulator/search/live.ts';
import { runs, seeded } from '../random.ts';

function edgeWithPaths(paths: Iterable<string>): EdgeConfig {
  const routes = Array.from(paths, (match, at) => ({
    match_type: at % 3 === 0 ? 'exact_path' : 'path_prefix',
    match,
    backend: { backend_id: 'app' },
  }));
  const { config, diagnostics } = checkWholeEdge({
    value: {
      backends: { app: { static: { address: 'localhost:3000' } } },
      edges: { https: { main: { hostports: ['a.test:443'], routes } } },
    },
  });
  if (config === null) throw new Error(diagnostics[0]!.message);
  return config;
}

/** Short paths of few characters, many of which begin alike. */
function randomPath(random: () => number): string {
  const length = Math.floor(random() * 5);
  return `/${Array.from({ length }, () => 'ab-'[Math.floor(random() * 3)]).join('')}`;
}

function pathPoints(config: EdgeConfig) {
  return pointsOf(config, { expressions: new Map() }).flatMap((point) =>
    point.seen.by === 'path' ? [{ point, seen: point.seen }] : [],
  );
}

/** A recorder that has counted these keys, each of which is new once. */
function recorderOf(hits: Readonly<Record<string, number>>, texts: () => readonly string[]) {
  return {
    ...recorder(),
    count: (key: string) => hits[key] ?? 0,
    takeNews: () => ({ keys: [], texts: texts(), outcomes: new Set<string>(), vectors: new Set<string>() }),
  };
}

test('paths cover the points that testing each path with each point finds', () => {
  let covered = 0;
  for (let seed = 0; seed < runs(2_000, 100); seed++) {
    const random = seeded(seed);
    const config = edgeWithPaths(new Set(Array.from({ length: 6 }, () => randomPath(random))));
    const points = pathPoints(config);
    const hits: Record<string, number> = {};
    let news: string[] = [];
    const open = openPoints(
      points.map(({ point }) => point),
      recorderOf(hits, () => news),
    );
    const left = new Set(points);
    const counted: [path: string, host: string | null, count: number][] = [];
    for (let run = 0; run < 8; run++) {
      const [path, count] = [randomPath(random), 1 + Math.floor(random() * 3)];
      const host = [null, 'a.test', 'b.test'][Math.floor(random() * 3)]!;
      const key = `path ${host === null ? 'main' : `?${host}`} ${path}`;
      news = key in hits ? [] : [key];
      hits[key] = (hits[key] ?? 0) + count;
      counted.push([path, host, count]);
      const { points: taken } = open.take({ ...plainDraft(config, path), host: host ?? 'a.test' });
      const expected = [...left].filter(({ seen }) => host !== 'b.test' && seen.test(path));
      expect(taken.map(({ id }) => id)).toEqual(
        news.length === 0 ? [] : expected.map(({ point }) => point.id),
      );
      for (const each of expected) left.delete(each);
    }
    const count = hitCounter({ hits, expressions: {}, requests: 0 });
    for (const { point, seen } of points) {
      const plain = counted.reduce(
        (sum, [path, host, times]) => sum + (host !== 'b.test' && seen.test(path) ? times : 0),
        0,
      );
      expect([seed, point.id, count(point)]).toEqual([seed, point.id, plain]);
      if (plain > 0) covered++;
    }
  }
  expect(covered).toBeGreaterThan(100);
});

test('a path is tested with the points that it may cover, not with those of all routes', () => {
  const routes = 1_000;
  const config = edgeWithPaths(Array.from({ length: routes }, (_, at) => `/route${at}/`));
  let tests = 0;
  const points = pathPoints(config).map(({ point, seen }) => {
    const isMatching = (path: string): boolean => (tests++, seen.test(path));
    return Object.assign({}, point, { seen: Object.assign({}, seen, { test: isMatching }) });
  });
  const hits = Object.fromEntries(Array.from({ length: routes }, (_, at) => [`path main /route${at}/x`, 1]));
  let news: readonly string[] = [];
  const open = openPoints(
    points,
    recorderOf(hits, () => news),
  );
  const count = hitCounter({ hits, expressions: {}, requests: 0 });
  for (const point of points) count(point);
  for (const key of Object.keys(hits)) {
    news = [key];
    open.take(plainDraft(config, key.slice('path main '.length)));
  }
  expect(open.count()).toBeLessThan(points.length);
  expect(tests).toBeLessThan(20 * routes);
});
