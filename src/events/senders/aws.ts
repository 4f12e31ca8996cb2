import { type AwsCredentials, signForAws } from '../../crypto/aws_signature.ts';
import { type CloudWorld, type Requests, type Sent, refusal } from './sending.ts';

/** Exactly one member: a role to assume, or keys. */
export interface AwsAuth {
  readonly role?: { readonly role_arn: string };
  readonly creds?: { readonly aws_access_key_id: string; readonly aws_secret_access_key: string };
}

/** A parsed ARN: `arn:partition:service:region:account:resource`. */
export interface Arn {
  readonly partition: string;
  readonly region: string;
  readonly resource: string;
}

const ARN = /^arn:(?<partition>aws[a-z-]*):(?<service>[a-z0-9]+):(?<region>[a-z0-9-]*):\d*:(?<resource>.+)$/;

/** Null if the text is not an ARN of the service. */
export function arnOf(text: string, service: string): Arn | null {
  const parts = ARN.exec(text)?.groups as (Arn & { readonly service: string }) | undefined;
  return parts?.service === service ? parts : null;
}

/** The base URL of a service; the operator can replace it. */
export function endpointOf(service: string, { region, partition }: Arn, { endpoint }: CloudWorld): URL {
  const suffix = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
  return new URL(endpoint?.(service) ?? `https://${service}.${region}.${suffix}/`);
}

/** Credentials that expire within this time are replaced. */
const RENEWAL_MS = 300_000;

interface Assumed extends AwsCredentials {
  readonly untilMs: number;
}

/** The credentials of a destination; those of a role are temporary and renewed. Rejects if STS refuses. */
function credentialsOf(auth: AwsAuth, arn: Arn, sending: Requests, world: CloudWorld) {
  let assumed: Assumed | null = null;
  return {
    forget: (): void => {
      assumed = null;
    },
    get: async (): Promise<AwsCredentials> => {
      const { creds, role } = auth;
      if (creds !== undefined)
        return { accessKeyId: creds.aws_access_key_id, secretAccessKey: creds.aws_secret_access_key };
      if (assumed === null || assumed.untilMs - sending.nowMs() < RENEWAL_MS)
        assumed = await assume(role!.role_arn, arn, sending, world);
      return assumed;
    },
  };
}

/** STS AssumeRole (AWS Security Token Service API reference, version 2011-06-15). */
async function assume(role: string, arn: Arn, sending: Requests, world: CloudWorld): Promise<Assumed> {
  const { credentials, externalId } = world.aws ?? {};
  if (credentials === undefined)
    throw new Error('roles need AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of this instance');
  const body = new URLSearchParams({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: 'edgeproof-events',
    ...(externalId !== undefined && { ExternalId: externalId }),
  }).toString();
  const url = endpointOf('sts', arn, world);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const request = { url, headers, body, service: 'sts', region: arn.region };
  const answer = await sending.post(url.href, {
    headers: signForAws(request, credentials, sending.nowMs()),
    body,
  });
  const read = (name: string): string => elementOf(answer.body, name);
  const untilMs = Date.parse(read('Expiration'));
  if (answer.status !== 200 || Number.isNaN(untilMs)) {
    const why = read('Message') || read('Code') || `status ${answer.status}`;
    throw new Error(`the role cannot be assumed: ${why}`);
  }
  return {
    accessKeyId: read('AccessKeyId'),
    secretAccessKey: read('SecretAccessKey'),
    sessionToken: read('SessionToken'),
    untilMs,
  };
}

/** The answer of a service, or why there is none. */
export type AwsAnswer = { readonly answer: unknown } | { readonly code: string; readonly refused: Sent };

/** A service with the JSON 1.1 protocol, such as Kinesis. */
export function awsService(
  service: string,
  { auth, arn, sending, world }: { auth: AwsAuth; arn: Arn; sending: Requests; world: CloudWorld },
): (operation: string, input: unknown) => Promise<AwsAnswer> {
  const call = awsRequests(service, { auth, arn, sending, world });
  return async (operation, input) => {
    const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': operation };
    const url = endpointOf(service, arn, world);
    return call({ url, headers, body: JSON.stringify(input) });
  };
}

/** Signed requests of one service. */
export function awsRequests(
  service: string,
  { auth, arn, sending, world }: { auth: AwsAuth; arn: Arn; sending: Requests; world: CloudWorld },
) {
  const credentials = credentialsOf(auth, arn, sending, world);
  return async (
    request: Omit<Parameters<typeof signForAws>[0], 'service' | 'region'>,
  ): Promise<AwsAnswer> => {
    const { url, method = 'POST', body } = request;
    const now = sending.nowMs();
    const signed = signForAws({ ...request, service, region: arn.region }, await credentials.get(), now);
    const { host: _host, ...headers } = signed;
    const posted = await sending.post(url.href, { method, headers, body });
    if (posted.status === 200) return { answer: parsed(posted.body) };
    const { __type: type = '', message, Message = message } = errorOf(posted.body);
    const code = type.replace(/^.*#/, '');
    if (/Expired|UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId/.test(code)) credentials.forget();
    const words = code === '' ? posted.body : `${code} ${Message ?? ''}`;
    return { code, refused: refusal(service, { ...posted, body: words }, now) };
  };
}

interface ErrorBody {
  readonly __type?: string;
  readonly message?: string;
  readonly Message?: string;
}

/** The error of a service with JSON, or of S3 with XML. */
function errorOf(body: string): ErrorBody {
  if (!/^\s*</.test(body)) return parsed(body) ?? {};
  return { __type: elementOf(body, 'Code'), Message: elementOf(body, 'Message') };
}

/** The text of the first element with a name; empty without one. */
function elementOf(xml: string, name: string): string {
  return new RegExp(`<${name}>([^<]+)</`).exec(xml)?.[1] ?? '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
