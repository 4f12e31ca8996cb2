import { nodeZlib } from '../../loading/builtins.ts';
import { type CloudWorld, type Requests, type Target, envelopeOf, refusal, requests } from './sending.ts';

export interface AzureLogsSettings {
  readonly tenant_id: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly logs_ingestion_uri: string;
  readonly data_collection_rule_id: string;
  readonly data_collection_stream_name: string;
}

/**
 * One call takes 1 MB, compressed and uncompressed; texts above 64 KB are truncated (Azure Monitor service limits, Logs
 * Ingestion API).
 */
const BATCH_BYTES = 1_000_000;
const LIMITS = { events: 1_000, bytes: BATCH_BYTES, eventBytes: BATCH_BYTES, overheadBytes: 64 };
/** Tokens that expire within this time are replaced. */
const RENEWAL_MS = 60_000;

/** Azure Monitor, Logs Ingestion API 2023-01-01: records are events with a column `TimeGenerated`. */
export function azureLogsTarget(settings: AzureLogsSettings, world: CloudWorld): Target {
  const {
    logs_ingestion_uri: base,
    data_collection_rule_id: rule,
    data_collection_stream_name: stream,
  } = settings;
  const path = `dataCollectionRules/${encodeURIComponent(rule)}/streams/${encodeURIComponent(stream)}`;
  const url = `${base.replace(/\/+$/, '')}/${path}?api-version=2023-01-01`;
  const sending = requests(world);
  const tokens = tokensOf(settings, sending, world);
  return {
    problem: null,
    limits: LIMITS,
    send: async (events) => {
      const headers = {
        authorization: `Bearer ${await tokens.get()}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      };
      const records = events.map((event) => {
        const envelope = envelopeOf(event);
        return { TimeGenerated: envelope.event_timestamp, ...envelope };
      });
      const posted = await sending.post(url, { headers, body: nodeZlib().gzipSync(JSON.stringify(records)) });
      if (posted.status === 204) return { problem: null };
      if (posted.status === 401) tokens.forget();
      return refusal('azure', posted, sending.nowMs());
    },
    giveUp: sending.giveUp,
    close: async () => {},
  };
}

/** Tokens by client credentials (RFC 6749 §4.4); rejects if there is none. */
function tokensOf(settings: AzureLogsSettings, sending: Requests, { endpoint }: CloudWorld) {
  const { tenant_id: tenant, client_id: clientId, client_secret: secret } = settings;
  const login = endpoint?.('azure_login') ?? 'https://login.microsoftonline.com/';
  const url = new URL(`${encodeURIComponent(tenant)}/oauth2/v2.0/token`, login).href;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: secret,
    scope: 'https://monitor.azure.com/.default',
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  let known: { readonly token: string; readonly untilMs: number } | null = null;
  return {
    forget: (): void => {
      known = null;
    },
    get: async (): Promise<string> => {
      const now = sending.nowMs();
      if (known !== null && known.untilMs - now > RENEWAL_MS) return known.token;
      const { status, body: answer } = await sending.post(url, { headers, body });
      // The body of a refusal may repeat what was sent.
      if (status !== 200) throw new Error(`azure gave no token: status ${status}`);
      const { access_token: token, expires_in: seconds } = tokenAnswer(answer);
      if (typeof token !== 'string' || typeof seconds !== 'number') throw new Error('azure gave no token');
      known = { token, untilMs: now + seconds * 1_000 };
      return token;
    },
  };
}

/** Errors of `JSON.parse` would repeat a part of the answer. */
function tokenAnswer(answer: string): { readonly access_token?: unknown; readonly expires_in?: unknown } {
  try {
    return (JSON.parse(answer) ?? {}) as object;
  } catch {
    return {};
  }
}
