import type { CancellationToken } from 'vscode-languageserver/node';
import type { TextFacts } from '../open_file.ts';
import type { Serving } from '../serving.ts';

export interface About {
  readonly textDocument: { readonly uri: string };
}

/** Answers with the newest text of a document of ours; other documents get the answer that says nothing. */
export function answering({ documents, project, diagnosing }: Serving) {
  return <Answer>(
    { textDocument: { uri } }: About,
    token: CancellationToken,
    nothing: Answer,
    of: (facts: TextFacts) => Answer,
  ): Answer => {
    const document = documents.get(uri);
    if (document === undefined || token.isCancellationRequested || !diagnosing.isOurs(uri)) return nothing;
    return of(project.factsOf(document));
  };
}

/** The facts of an open document; null if it is closed. */
export function factsOf({ documents, project }: Serving, uri: string | undefined): TextFacts | null {
  const document = uri === undefined ? undefined : documents.get(uri);
  return document === undefined ? null : project.factsOf(document);
}
