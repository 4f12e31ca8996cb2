import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Explanation } from '../../../src/edge/explain.ts';
import { keepSecrets, secretProvider } from '../../../src/edge/secrets.ts';
import { edgeOf, usable } from '../../../src/edgeproof.ts';
import type { DraftSetting } from '../../../src/inspector/decide/draft.ts';
import { loadConfig } from '../../../src/project_files/load_config.ts';
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
  readonly setting: DraftSetting;
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
    setting: {
      edgeFile,
      current: () => ({ config: checked.config, locate: checked.locate }),
      circumstances: { secrets, adoptHosts: 'loopback' },
      newest: (count) => kept.slice(-count).toReversed(),
      find: (seq) => kept[seq - 1] ?? null,
      clockMs: () => performance.now(),
      pause: () => turn(),
    },
  };
}
