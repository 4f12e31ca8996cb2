import { coverageOf, coveredEdge } from '../../src/coverage/coverage.ts';
import type { EdgeFixture } from '../../src/coverage/edge_fixture.ts';
import { findCases } from '../../src/simulator/search/cover_points.ts';
import { withProofs } from '../../src/simulator/search/exact.ts';
import { type Draft, plainDraft } from '../../src/simulator/search/draft.ts';
import { webhookSigner } from '../../src/simulator/webhook_signer.ts';

/** Spellings that more lenient servers read as another path, and paths that only a login reserves. */
const SPELLINGS = ['/A', '/A/B', '/a%2fb', '//a/b', '/a/./b', '/a;x/b', '/%61/b', '/a/b/', '/nothing-here'];

interface Search {
  readonly runs: number;
  readonly begin?: readonly Draft[];
}

/**
 * Searches for each point of an edge that is not said to be possible, and returns the claims that a run contradicts, as
 * sentences. The search takes them for possible.
 */
export function falseClaims(edge: EdgeFixture, { runs, begin = [] }: Search): string[] {
  const covered = withProofs(coveredEdge(edge));
  const claims = new Map(
    coverageOf(covered).points.flatMap(({ id, message, uncovered }) =>
      uncovered!.reason === 'cannot_happen' || uncovered!.reason === 'not_in_cases'
        ? [[id, `${message}, though ${uncovered!.message}`] as const]
        : [],
    ),
  );
  const open = covered.points.map((point) => ({ ...point, impossible: null, untestable: null }));
  const spelt = SPELLINGS.map((path) => plainDraft(edge.config, path));
  const found = findCases({ ...covered, points: open }, [...begin, ...spelt], {
    runs,
    signer: webhookSigner,
  });
  return found.flatMap(({ draft, points }) =>
    points.flatMap(({ id }) => {
      const claim = claims.get(id);
      return claim === undefined ? [] : [`${claim}: ${draft.method} ${draft.path}`];
    }),
  );
}
