import type { Kind } from '../../../filters/action_fields_schema.ts';
import { cidr, expression, internalUrl, ipPolicy, pattern, pem, url } from './texts.ts';
import { credential } from './credential.ts';
import { data, variables } from './data.ts';
import { duration } from './duration.ts';
import { headerMap, headerName } from './headers.ts';
import type { KindCheck } from '../checking.ts';

/** The check of each kind of field. */
export const KINDS: Readonly<Record<Kind, KindCheck>> = {
  cidr,
  credential,
  data,
  duration,
  expression,
  header_map: headerMap,
  header_name: headerName,
  internal_url: internalUrl,
  ip_policy: ipPolicy,
  pattern,
  pem,
  url,
  variables,
};
