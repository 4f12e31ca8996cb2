import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Explanation } from '../../../src/edge/explain.ts';
import { keepSecrets, secretProvider } from '../../../src/edge/secrets.ts';
import { edgeOf, usable } from '../../../src/edgeproof.ts';
import { type DraftOrder, Drafts } from '../../../src/inspector/decide/draft.ts';
import type { Circumstances, Deciding, KeptRequest } from '../../../src/inspector/decide/subject.ts';
import { loadConfig } from '../../../src/project_files/load_config.ts';
import { textsOverDisk } from '../../../src/project_files/texts_over_disk.ts';
import type { RecordedExchange } from '../../../src/replay/recording.ts';
import { recordingSink } from '../../../src/replay/recording_sink.ts';
import { folderWith } from '../../folder.ts';

/** A request to an edge: `POST /a` with fields. */
export interface Sent {
  readonly request: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Traffic {
  readonly folder: string;
  readonly edgeFile: string;
  readonly kept: readonly KeptRequest[];
  readonly current: Deciding;
  readonly circumstances: Circumstances;
  readonly drafts: Drafts;
  /** Drafts for all requests, with texts in place of files. */
  readonly order: (texts?: Readonly<Record<string, string>>, one?: number) => DraftOrder;
  readonly records: readonly RecordedExchange[];
  /** What the live edge says of each exchange. */
  readonly explanations: readonly Explanation[];
}

/** Sends requests through real sockets to an edge that `edge.yaml` describes, `UPSTREAM` being a server that answers 200. */
export async function traffic(
  files: Readonly<Record<string, string>>,
  requests: readonly Sent[],
): Promise<Traffic> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end(`hello from ${request.url}`));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const texts = Object.entries(files).map(([name, text]) => [
    name,
    text.replaceAll('UPSTREAM', `127.0.0.1:${port}`),
  ]);
  const folder = folderWith(Object.fromEntries(texts) as Record<string, string>);
  const edgeFile = `${folder}/edge.yaml`;
  const checked = usable(await loadConfig(edgeFile));
  const secrets = keepSecrets(secretProvider({ team: { key: 'open sesame' } }));
  const circumstances: Circumstances = { secrets, adoptHosts: 'loopback' };
  const records: RecordedExchange[] = [];
  const explanations: Explanation[] = [];
  const edge = edgeOf(checked, {
    secrets: { team: { key: 'open sesame' } },
    recordingSink: recordingSink((record) => records.push(record), 65_536),
    onEvent: (_event, explain) => explanations.push(explain()),
  });
  const listening = await edge.listen();
  for (const { request, headers = {}, body } of requests) {
    const [method, target] = request.split(' ') as [string, string];
    const answer = await fetch(`${listening.url}${target}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    await answer.arrayBuffer();
  }
  while (explanations.length < requests.length) await turn();
  await listening.close(0);
  server.closeAllConnections();
  server.close();
  const kept = records.map((record, at) => ({ seq: at + 1, record: () => record }));
  return {
    folder,
    records,
    explanations,
    edgeFile,
    kept,
    current: { config: checked.config, locate: checked.locate },
    circumstances,
    drafts: new Drafts({
      load: (overlay) => loadConfig(edgeFile, { sources: textsOverDisk(overlay) }),
      circumstances: () => Promise.resolve(circumstances),
      clockMs: () => performance.now(),
    }),
    order: (overlay = {}, one) => ({
      texts: overlay,
      active: {},
      newest: kept.map(({ seq }) => seq),
      one: one ?? null,
      explains: one !== undefined,
      news: kept.map(({ seq, record }) => [seq, JSON.stringify(record())]),
    }),
  };
}
