import { digest, hmac, hmacKey } from './digest.ts';

/** Credentials of AWS; temporary ones have a session token. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A request to sign. `url` has no query. */
interface AwsRequest {
  readonly url: URL;
  /** Default: POST. */
  readonly method?: 'POST' | 'PUT';
  /** Fields to sign besides host and date; names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly service: string;
  readonly region: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The header fields of a request signed with Signature Version 4 (AWS IAM user guide, "Create a signed request"). */
export function signForAws(
  { url, method = 'POST', headers, body, service, region }: AwsRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  nowMs: number,
): Readonly<Record<string, string>> {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const bodyHash = digest('sha256', [body], 'hex');
  const signed: Readonly<Record<string, string>> = {
    ...headers,
    host: url.host,
    'x-amz-date': time,
    // S3 also wants the digest of the body as a field, and the path as it is sent (S3 user guide, same section).
    ...(service === 's3' && { 'x-amz-content-sha256': bodyHash }),
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  const names = Object.keys(signed).toSorted();
  const fields = names.map((name) => `${name}:${signed[name]!.trim().replaceAll(/ +/g, ' ')}\n`).join('');
  const path = service === 's3' ? url.pathname : encodedPath(url);
  const canonical = [method, path, '', fields, names.join(';'), bodyHash].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = [ALGORITHM, time, scope, digest('sha256', [canonical], 'hex')].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<Uint8Array>(
    (secret, part) => Buffer.from(hmac('sha256', hmacKey(secret), [part], 'hex'), 'hex'),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
  const signature = hmac('sha256', hmacKey(key), [text], 'hex');
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { ...signed, authorization };
}

/** The parts of the path as they are sent, encoded once more. */
function encodedPath({ pathname }: URL): string {
  return pathname.split('/').map(encodeURIComponent).join('/');
}
