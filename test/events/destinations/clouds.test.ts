import { afterEach, describe, expect, it } from 'vitest';
import { callbackPost } from '../../../src/clients/callback_post.ts';
import { targetOf } from '../../../src/events/targets.ts';
import { type Received, SERVICES, KEYS, signatureProblem, startDouble } from './doubles.ts';
import type { Reply } from './tcp_double.ts';
import { eventOf } from './outbox.ts';

/** What is particular to one service. */

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function sender(
  settings: object,
  reply: (received: Received) => Reply,
  aws?: object,
  nowMs = Date.now,
) {
  const double = await startDouble(reply);
  open.push(double.close);
  const world = {
    nowMs,
    post: callbackPost({ own: [], allowPrivate: true }),
    say: () => {},
    endpoint: () => double.url,
    ...(aws && { aws }),
  };
  return targetOf('ed_1', settings, world);
}

const events = [eventOf(0), eventOf(1), eventOf(2)];

describe('firehose and kinesis', () => {
  it.each([
    ['firehose', 'RequestResponses', 'ServiceUnavailableException'],
    ['kinesis', 'Records', 'ProvisionedThroughputExceededException'],
  ])('%s: only the records with an error are sent again', async (name, outcomes, code) => {
    const body = { [outcomes]: [{}, { ErrorCode: code, ErrorMessage: 'slow down' }, {}] };
    const target = await sender(SERVICES[name]!.target(''), () => ({ status: 200, body }));
    expect(await target.send(events)).toEqual({
      problem: `${name} refused 1 record: ${code} slow down`,
      again: [1],
    });
  });

  it('an answer without the outcomes counts as a failure', async () => {
    const target = await sender(SERVICES['kinesis']!.target(''), () => ({
      status: 200,
      body: { Records: [{}] },
    }));
    expect(await target.send(events)).toEqual({ problem: 'kinesis gave no outcome for each record' });
  });

  it.each(['arn:aws:kinesis:eu-west-1:1:consumer/x', 'nonsense', 'arn:aws:s3:::bucket'])(
    '%s is not supported',
    async (text) => {
      const target = await sender({ kinesis: { auth: {}, stream_arn: text } }, () => ({ status: 200 }));
      expect(target.problem).toMatch(/is not the ARN of a stream/);
    },
  );

  it('the message of the service is in the problem, and its delay is kept', async () => {
    const reply = {
      status: 400,
      headers: { 'retry-after': '7' },
      body: { __type: 'com.amazonaws#LimitExceededException', message: 'too fast' },
    };
    const target = await sender(SERVICES['kinesis']!.target(''), () => reply);
    expect(await target.send(events)).toEqual({
      problem: 'kinesis answered 400: LimitExceededException too fast',
      afterMs: 7_000,
    });
  });
});

describe('roles', () => {
  const role = {
    kinesis: {
      auth: { role: { role_arn: 'arn:aws:iam::1:role/x' } },
      stream_arn: 'arn:aws:kinesis:eu-west-1:1:stream/s',
    },
  };
  const temporary = { accessKeyId: 'ASIATEMP', secretAccessKey: 'temporary+secret/', sessionToken: 'tok' };
  const assumed = (until: number) => `<AssumeRoleResponse><AssumeRoleResult><Credentials>
    <AccessKeyId>ASIATEMP</AccessKeyId><SecretAccessKey>temporary+secret/</SecretAccessKey>
    <SessionToken>tok</SessionToken><Expiration>${new Date(until).toISOString()}</Expiration>
    </Credentials></AssumeRoleResult></AssumeRoleResponse>`;
  const outcome = { status: 200, body: { Records: [{}, {}, {}] } };

  it('are assumed with the external id, and again before they expire', async () => {
    let now = Date.now();
    const asked: string[] = [];
    const problems: (string | null)[] = [];
    const target = await sender(
      role,
      (received) => {
        if (!received.body.startsWith('Action=')) {
          problems.push(signatureProblem(received, 'kinesis', temporary));
          return outcome;
        }
        problems.push(signatureProblem(received, 'sts'));
        asked.push(received.body);
        return { status: 200, body: assumed(now + 3_600_000) };
      },
      { credentials: KEYS, externalId: 'ac_1' },
      () => now,
    );
    for (const later of [0, 0, 3_400_000]) {
      now += later;
      expect(await target.send(events)).toEqual({ problem: null });
    }
    expect(problems).toEqual([null, null, null, null, null]);
    expect(asked).toHaveLength(2);
    expect(Object.fromEntries(new URLSearchParams(asked[0]))).toMatchObject({
      Action: 'AssumeRole',
      RoleArn: 'arn:aws:iam::1:role/x',
      ExternalId: 'ac_1',
    });
  });

  it('are not assumed without credentials of the instance, and the refusal of STS is shown', async () => {
    const reply = {
      status: 403,
      body: '<ErrorResponse><Error><Message>not authorized</Message></Error></ErrorResponse>',
    };
    const without = await sender(role, () => reply);
    await expect(without.send(events)).rejects.toThrow(/AWS_ACCESS_KEY_ID/);
    const refused = await sender(role, () => reply, { credentials: KEYS });
    await expect(refused.send(events)).rejects.toThrow('the role cannot be assumed: not authorized');
  });
});

describe('cloudwatch logs', () => {
  const settings = SERVICES['cloudwatch_logs']!.target('');

  it('creates its stream when there is none', async () => {
    const operations: string[] = [];
    const target = await sender(settings, ({ headers }) => {
      operations.push(headers['x-amz-target']!.replace(/.*\./, ''));
      return operations.length === 1
        ? { status: 400, body: { __type: 'ResourceNotFoundException', message: 'no stream' } }
        : { status: 200 };
    });
    expect((await target.send(events)).problem).toBeNull();
    expect(operations).toEqual(['PutLogEvents', 'CreateLogStream', 'PutLogEvents']);
  });

  it('sorts by time, and finds rejected events in the sorted batch', async () => {
    const body = { rejectedLogEventsInfo: { tooOldLogEventEndIndex: 1, tooNewLogEventStartIndex: 2 } };
    const target = await sender(settings, () => ({ status: 200, body }));
    const mixed = [eventOf(0, 1, 30), eventOf(1, 1, 50), eventOf(2, 1, 10)];
    expect(await target.send(mixed)).toEqual({
      problem: null,
      again: [],
      dead: [
        { index: 2, reason: 'too old for CloudWatch Logs' },
        { index: 1, reason: 'too far in the future' },
      ],
    });
  });

  it('keeps for the next batch what is more than a day later', async () => {
    const target = await sender(settings, () => ({ status: 200, body: {} }));
    const late = eventOf(1).replace('2026-01-01', '2026-01-03');
    expect(await target.send([late, eventOf(2)])).toEqual({ problem: null, again: [0], dead: [] });
  });
});

describe('datadog and azure', () => {
  it('an event that is older than Datadog takes keeps its time in the message only', async () => {
    const now = Date.parse('2026-01-02T00:00:30Z');
    const times: number[] = [];
    const settings = SERVICES['datadog']!.target('');
    const reply = ({ body }: Received): Reply => {
      const logs = JSON.parse(body) as { timestamp: number }[];
      times.push(...logs.map(({ timestamp }) => timestamp));
      return { status: 202 };
    };
    const target = await sender(settings, reply, undefined, () => now);
    const recent = eventOf(1).replace('2026-01-01T00:00:01', '2026-01-02T00:00:01');
    expect(await target.send([eventOf(0), recent])).toEqual({ problem: null });
    expect(times).toEqual([now - 17 * 3_600_000, now - 29_000]);
  });

  it.each(['evil.test/x?', 'a b', 'user@host', '..', 'localhost'])('a site %j is refused', async (ddsite) => {
    const target = await sender({ datadog: { api_key: 'k', ddsite } }, () => ({ status: 202 }));
    expect(target.problem).toMatch(/is not a Datadog site/);
  });

  it('a token is asked for again after 401, and its refusal tells no secret', async () => {
    let tokens = 0;
    const replies = [401, 204];
    const settings = {
      azure_logs_ingestion: { ...SERVICES['azure_logs_ingestion']!.target('').azure_logs_ingestion! },
    };
    const reply = ({ path }: Received): Reply => {
      if (!path.includes('oauth2')) return { status: replies.shift()!, body: '' };
      tokens++;
      return tokens < 3
        ? { status: 200, body: { access_token: `t${tokens}`, expires_in: 3600 } }
        : { status: 400, body: 's&cret' };
    };
    const double = await startDouble(reply);
    open.push(double.close);
    settings.azure_logs_ingestion = { ...settings.azure_logs_ingestion, logs_ingestion_uri: double.url };
    const target = await sender(settings, reply);
    expect((await target.send(events)).problem).toBe('azure answered 401');
    expect((await target.send(events)).problem).toBeNull();
    expect(tokens).toBe(2);
    const other = await sender(settings, reply);
    await expect(other.send(events)).rejects.toThrow('azure gave no token: status 400');
  });
});
