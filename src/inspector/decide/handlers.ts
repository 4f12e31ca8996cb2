import { namedSecrets } from '../../edge/document/named_secrets.ts';
import { type SecretProvider, keepSecrets } from '../../edge/secrets.ts';
import { FileError, isScript } from '../../project_files/load_config.ts';
import type { InspectorContext } from '../server/context.ts';
import { exchangeAt, explanationOf, plainExplanation, redactedRecord } from '../server/detail.ts';
import {
  type Handlers,
  OwnTexts,
  RequestError,
  countIn,
  invalid,
  memberOf,
  optionalTextIn,
  textIn,
} from '../server/handler.ts';
import type { Deciding as DecidingPart } from '../server/inspector.ts';
import type { Revisions } from '../server/revisions.ts';
import { ROW_FILTER_SCOPE } from '../server/row_filter.ts';
import type { DraftAnswer, DraftRequest, FormatAnswer, FormatRequest } from '../wire_editing.ts';
import { completions } from '../../editing/complete.ts';
import type { Decider } from './decider.ts';
import { DraftOrders, newestTexts } from './draft_orders.ts';
import { explainer } from './explain_again.ts';
import type { Circumstances, Deciding } from './subject.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { diagnosticsToJson } from '../../diagnostics/json.ts';
import { formattedText } from '../../edge/formatted_text.ts';

export interface DecidingOptions extends Omit<Circumstances, 'secrets'> {
  readonly secrets: SecretProvider;
  /** Decides drafts of a configuration that is in files; without it there are no drafts. */
  readonly decider?: Decider;
}

const clockMs = (): number => performance.now();
/** Kept exchanges that coverage without a scenario file counts. */
const COVERED = 5_000;

/** The part of the inspector that decides again: explanations with values, drafts, completion, formatting, coverage. */
export function decidingPart({
  decider,
  secrets,
  ...others
}: DecidingOptions): (context: InspectorContext, revisions: Revisions) => DecidingPart {
  return (context, revisions) => {
    const { store, watch, files } = context;
    const circumstances: Circumstances = { ...others, secrets: keepSecrets(secrets) };
    const running = (): Deciding => {
      const { config } = watch.edge.runtime.current();
      for (const text of namedSecrets(config)) circumstances.secrets.remember(text);
      return { config, locate: watch.edge.locate };
    };
    const { explain } = explainer(running, circumstances, clockMs);
    const [edgeFile] = files.names();
    const edgeText = (): string => newestTexts(revisions).get(edgeFile ?? '') ?? '';
    const handlers: Handlers = {
      'POST /api/complete': ({ body }) => {
        const name = memberOf(body, 'name') === null ? null : textIn(body, 'name');
        const request = { name, text: textIn(body, 'text'), offset: countIn(body, 'offset', 0) };
        return completions(request, { edgeText, filterScope: ROW_FILTER_SCOPE });
      },
      'POST /api/format': ({ body }) =>
        new OwnTexts(format({ name: textIn(body, 'name'), text: textIn(body, 'text') })),
      'POST /api/coverage': async ({ body }) => {
        const scenario = optionalTextIn(body, 'scenario');
        const { keptCoverage, scenarioCoverage } = await import('./coverage.ts');
        if (scenario === undefined) return keptCoverage(running(), circumstances, store.newest(COVERED));
        return orRefused(() => (decider?.coverage ?? scenarioCoverage)(scenario));
      },
    };
    const draft =
      decider === undefined || edgeFile === undefined || isScript(edgeFile)
        ? {}
        : { 'POST /api/draft': draftHandler(decider, context, revisions) };
    return {
      handlers: { ...handlers, ...draft },
      explain: (kept) =>
        kept.kind === 'exchange' ? explain(kept, kept.explanation()) : plainExplanation(kept),
      close: async () => decider?.close(),
    };
  };
}

function draftHandler(decider: Decider, context: InspectorContext, revisions: Revisions): Handlers[string] {
  const orders = new DraftOrders(decider, context, revisions);
  return ({ body, response }) =>
    orRefused(async () => {
      const answer = await orders.verdictsOf(draftRequest(body), () => !response.closed);
      if (answer === null) throw new RequestError(409, 'unavailable', 'the page has asked for another draft');
      return answer.one === null ? answer : { ...answer, one: redactedOne(answer.one, context) };
    });
}

function draftRequest(body: unknown): DraftRequest {
  const texts = memberOf(body, 'texts');
  if (
    typeof texts !== 'object' ||
    texts === null ||
    Object.values(texts).some((text) => typeof text !== 'string')
  )
    throw invalid('`texts` must be an object of texts by file name');
  const [seq, last] = [countIn(body, 'seq', null), countIn(body, 'last', null)];
  const explain = memberOf(body, 'explain') ?? true;
  if (typeof explain !== 'boolean') throw invalid('`explain` must be true or false');
  return {
    texts: texts as DraftRequest['texts'],
    ...(seq !== null && { seq }),
    ...(last !== null && { last }),
    explain,
  };
}

/** Values of expressions may repeat what is redacted in the exchange. */
function redactedOne(one: NonNullable<DraftAnswer['one']>, context: InspectorContext): DraftAnswer['one'] {
  const { explanation } = one;
  if (explanation === null) return one;
  const kept = exchangeAt(one.seq, context);
  const redacted = redactedRecord(kept.record(), context);
  return { ...one, explanation: explanationOf(kept, redacted, context, () => explanation) };
}

/** A file that cannot be read is for the user to correct. */
async function orRefused<Answer>(answer: () => Promise<Answer>): Promise<Answer> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof FileError) throw new RequestError(409, 'unavailable', error.message);
    throw error;
  }
}

/** As `edgeproof fmt`: the canonical form of a policy, or of the policies in an edge file. */
function format(source: FormatRequest): FormatAnswer {
  const formatted = formattedText(source);
  if ('text' in formatted) return { text: formatted.text, diagnostics: [] };
  const { diagnostics, message } = formatted;
  const refusal: Diagnostic = { code: 'format.refused', severity: 'error', message, pointer: '', source };
  return { text: null, diagnostics: diagnosticsToJson(diagnostics.length > 0 ? diagnostics : [refusal]) };
}
