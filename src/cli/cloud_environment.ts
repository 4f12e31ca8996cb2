import type { CloudOptions } from '../control/event_delivery.ts';
import { isFieldValue } from '../http/fields.ts';
import { FileError } from '../project_files/load_config.ts';

/** Variables of the services' own tools that replace their addresses. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  firehose: 'AWS_ENDPOINT_URL_FIREHOSE',
  kinesis: 'AWS_ENDPOINT_URL_KINESIS',
  logs: 'AWS_ENDPOINT_URL_CLOUDWATCH_LOGS',
  sts: 'AWS_ENDPOINT_URL_STS',
  s3: 'AWS_ENDPOINT_URL_S3',
  azure_login: 'AZURE_AUTHORITY_HOST',
};

/**
 * The operator's credentials and addresses of clouds, under the names that the clouds' own tools read. Throws FileError for
 * those that cannot be sent.
 */
export function cloudFromEnvironment(variables: Readonly<Record<string, string | undefined>>): CloudOptions {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_ENDPOINT_URL: general,
  } = variables;
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SESSION_TOKEN']) {
    if (!isFieldValue(variables[name] ?? ''))
      throw new FileError(`${name} has a line break or another character that HTTP cannot send; remove it`);
  }
  return {
    ...(accessKeyId &&
      secretAccessKey && { aws: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } }),
    endpoint: (service) => {
      const own = ENDPOINTS[service];
      if (own === undefined) return undefined;
      return variables[own] || (own.startsWith('AWS_') ? general || undefined : undefined);
    },
  };
}
