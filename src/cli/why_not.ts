import { type Locate, explanationOf, renderExplanation } from '../edge/explain.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { type CoveredEdge, coveredEdge, withParts } from '../coverage/coverage.ts';
import { boundParts } from '../simulator/search/bound_parts.ts';
import type { Draft } from '../simulator/search/draft.ts';
import { draftLine, writtenRequest } from '../simulator/search/write_case.ts';
import { withProofs } from '../simulator/search/exact.ts';
import { type Target, targetOf } from '../simulator/search/target.ts';
import { type WhyNot, whyNot } from '../simulator/search/why_not.ts';
import { type EdgeFixture, edgeFixture } from '../coverage/edge_fixture.ts';
import type { DraftRun } from '../simulator/search/run_draft.ts';
import { FileError } from '../project_files/load_config.ts';
import { signerOf } from '../project_files/run_scenarios.ts';
import { counted } from '../diagnostics/message_text.ts';
import { outputLook } from './terminal.ts';

/** What would have to change in a request for a given outcome, as text or data. */
export interface WhyNotAnswer {
  readonly text: string;
  readonly data: object;
}

/** Answers `--why-not NAME` for a request. Throws FileError when the edge has nothing of that name. */
export async function answerWhyNot(
  name: string,
  draft: Draft,
  edge: EdgeFixture,
  locate: Locate,
): Promise<WhyNotAnswer> {
  const parts = boundParts(edge.config, [draft.agents]);
  const covered: CoveredEdge = withProofs(withParts(coveredEdge(edge), parts));
  const target = targetOf(name, covered);
  if ('problem' in target) throw new FileError(target.problem);
  const found = whyNot(covered, draft, target, { signer: await signerOf(edge.config) });
  return { text: textOf(target, found, locate), data: dataOf(target, found, locate) };
}

/** The edge of a file, prepared for searches. */
export function searchedEdge(config: EdgeConfig, locate: Locate): EdgeFixture {
  return edgeFixture(config, locate);
}

function textOf({ message }: Target, found: WhyNot, locate: Locate): string {
  switch (found.verdict) {
    case 'already':
      return `${message} for this request.\n`;
    case 'impossible':
      return `There is no request for which ${message}: ${found.message}.\n`;
    case 'not_found':
      return `No change was found after which ${message}; ${counted(found.runs, 'request was', 'requests were')} tried. That proves nothing.\n`;
    case 'changes': {
      const changes = found.changes.map((change) => `  ${change}`).join('\n');
      const tree = renderExplanation(explained(found.run, locate), outputLook());
      return `It would need ${counted(found.changes.length, 'change')}:\n${changes}\n${found.isFewest ? '' : 'Fewer changes may do: this was found by a search.\n'}Then ${message}:\n\n${tree}\n\nas a request: ${draftLine(found.draft)}\n`;
    }
  }
}

function explained({ simulatedRequests, connection }: DraftRun, locate: Locate) {
  return explanationOf((connection ?? simulatedRequests.at(-1)!).exchange, locate);
}

function dataOf({ message }: Target, found: WhyNot, locate: Locate): object {
  if (found.verdict !== 'changes') return { target: message, ...found };
  const { changes, isFewest, draft, run } = found;
  return {
    target: message,
    verdict: found.verdict,
    changes,
    is_fewest: isFewest,
    ...(draft.connect === null
      ? { request: writtenRequest(draft) }
      : { connect: draft.connect, ip: draft.ip }),
    ...(Object.keys(draft.variables).length > 0 && { facts: draft.variables }),
    ...(Object.keys(draft.upstreams).length > 0 && { upstreams: draft.upstreams }),
    ...(Object.keys(draft.agents).length > 0 && { agents: draft.agents }),
    ...(draft.before !== null && { before: draft.before }),
    ...(draft.as !== null && { identities: { [draft.as.name]: draft.as.facts } }),
    explanation: explained(run, locate),
  };
}
