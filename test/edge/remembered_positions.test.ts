import { expect, test } from 'vitest';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { edgeOf, usable } from '../../src/edgeproof.ts';
import type { RequestSummary } from '../../src/index.ts';

const text = `edges:
  https:
    site:
      hostports: ['localhost:443']
      routes:
        - match_type: path_prefix
          match: /
          user_agent_filter: { deny: ['bot'] }
`;

test('each position of a file is searched once, however many requests are reported', async () => {
  const checked = usable(checkWholeEdge({ name: 'edge.yaml', text }));
  const searched: string[] = [];
  const locate = (pointer: string) => {
    searched.push(pointer);
    return checked.locate(pointer);
  };
  const summaries: RequestSummary[] = [];
  const edge = edgeOf({ ...checked, locate }, { onCompleted: (summary) => summaries.push(summary) });
  const listening = await edge.listen();
  for (let at = 0; at < 3; at++) {
    const response = await fetch(`http://localhost:${listening.port}/`, { headers: { 'user-agent': 'bot' } });
    expect(response.status).toBe(403);
  }
  await expect.poll(() => summaries.length).toBe(3);
  for (const { decidedBy } of summaries)
    expect(decidedBy.place).toEqual({ file: 'edge.yaml', line: 8, column: 39 });
  expect(searched).toEqual(['/edges/https/site/routes/0/user_agent_filter/deny/0']);
  await listening.close();
});
