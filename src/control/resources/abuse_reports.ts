import * as z from 'zod';
import { parseAuthority } from '../../http/host.ts';
import type { Completed, Draft } from './contract.ts';
import { derive, field, notes, resource } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';

const URLS_LIMIT = 100;
const PENDING = 'PENDING';

/** The hosts of the reported URLs, each once. */
function completeReport({ body }: Draft): Completed {
  const hosts = (body['urls'] as readonly string[]).map((url, index) => {
    const [, text = ''] = /^https?:\/\/([^/?#]+)/i.exec(url) ?? [];
    const authority = parseAuthority(text);
    if (authority === null)
      throw refusedValue(COMMON.badValue, `/urls/${index}`, `'${url}' is not an http or https URL.`);
    return authority.host;
  });
  const hostnames = Array.from(new Set(hosts), (hostname) => ({ hostname, status: PENDING }));
  return { body: { ...body, status: PENDING, hostnames } };
}

const status = z.string().describe('Whether it was processed; always PENDING, because only people decide.');

export const abuseReports = resource({
  kind: 'abuse_report',
  title: 'abuse report',
  path: '/abuse_reports',
  prefix: 'abrp',
  listKey: 'abuse_reports',
  operations: ['create', 'get'],
  fields: {
    metadata: notes().metadata,
    urls: field(z.array(z.string()).min(1).max(URLS_LIMIT).describe('URLs of the reported content.'), {
      create: 'required',
    }),
    status: derive(status),
    hostnames: derive(
      z
        .array(z.strictObject({ hostname: z.string(), status: z.string() }))
        .describe('Hosts of the URLs, with their status.'),
    ),
  },
  complete: completeReport,
});
