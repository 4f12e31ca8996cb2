import { namedSecrets } from '../../edge/document/named_secrets.ts';
import { type SecretProvider, keepSecrets } from '../../edge/secrets.ts';
import { FileError, isScript, loadConfigText } from '../../project_files/load_config.ts';
import { filesOnDisk } from '../../project_files/named_files.ts';
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
import type { DraftAnswer, DraftRequest } from '../wire_editing.ts';
import { completions } from '../../editing/complete.ts';
import { keptCoverage, scenarioCoverage } from './coverage.ts';
import { drafts, withTexts } from './draft.ts';
import { explainer } from './explain_again.ts';
import { format } from './format.ts';
import type { Circumstances, Deciding } from './subject.ts';

export interface DecidingOptions extends Omit<Circumstances, 'secrets'> {
  readonly secrets: SecretProvider;
}

const clockMs = (): number => performance.now();
/** Kept exchanges that coverage without a scenario file counts. */
const COVERED = 5_000;

/** The part of the inspector that decides again: explanations with values, drafts, completion, formatting, coverage. */
export function decidingPart(
  given: DecidingOptions,
): (context: InspectorContext, revisions: Revisions) => DecidingPart {
  return (context, revisions) => {
    const { store, watch, files } = context;
    const circumstances: Circumstances = { ...given, secrets: keepSecrets(given.secrets) };
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
      'POST /api/coverage': ({ body }) => {
        const scenario = optionalTextIn(body, 'scenario');
        if (scenario === undefined) return keptCoverage(running(), circumstances, store.newest(COVERED));
        return orRefused(() => scenarioCoverage(scenario));
      },
    };
    const draft =
      edgeFile === undefined || isScript(edgeFile)
        ? {}
        : { 'POST /api/draft': draftHandler(edgeFile, circumstances, context, revisions) };
    return {
      handlers: { ...handlers, ...draft },
      explain: (kept) =>
        kept.kind === 'exchange' ? explain(kept, kept.explanation()) : plainExplanation(kept),
    };
  };
}

function draftHandler(
  edgeFile: string,
  circumstances: Circumstances,
  context: InspectorContext,
  revisions: Revisions,
): Handlers[string] {
  const { store } = context;
  // What runs may have other addresses and logins than the files say, as in `dev`: both sides are what files say.
  let active: { readonly texts: ReadonlyMap<string, string>; readonly deciding: Deciding } | null = null;
  const loadActive = async (): Promise<void> => {
    const texts = newestTexts(revisions);
    if (active?.texts === texts) return;
    const named = Object.fromEntries(texts);
    const overlay = withTexts(filesOnDisk(edgeFile), named);
    const { config, locate } = await loadConfigText(edgeFile, named[edgeFile] ?? '', { files: overlay });
    if (config === null)
      throw new RequestError(409, 'unavailable', 'the files of the active configuration have errors now');
    active = { texts, deciding: { config, locate } };
  };
  const decide = drafts({
    edgeFile,
    circumstances,
    current: () => active!.deciding,
    newest: (count) => store.newest(count),
    find: (seq) => {
      const kept = exchangeAt(seq, context);
      return kept.isDone ? kept : null;
    },
    clockMs,
    pause: () => new Promise((resolve) => void setImmediate(resolve)),
  });
  return ({ body }) =>
    orRefused(async () => {
      const request = draftRequest(body);
      await loadActive();
      const answer = await decide(request);
      return answer.one === null ? answer : { ...answer, one: redactedOne(answer.one, context) };
    });
}

function newestTexts(revisions: Revisions): ReadonlyMap<string, string> {
  const { revision } = revisions.list().at(-1) ?? { revision: 0 };
  return revisions.texts(revision) ?? NO_TEXTS;
}

const NO_TEXTS: ReadonlyMap<string, string> = new Map();

function draftRequest(body: unknown): DraftRequest {
  const texts = memberOf(body, 'texts');
  if (
    typeof texts !== 'object' ||
    texts === null ||
    Object.values(texts).some((text) => typeof text !== 'string')
  )
    throw invalid('`texts` must be an object of texts by file name');
  const [seq, last] = [countIn(body, 'seq', null), countIn(body, 'last', null)];
  return {
    texts: texts as DraftRequest['texts'],
    ...(seq !== null && { seq }),
    ...(last !== null && { last }),
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
