import { parseAuthority } from '../../http/host.ts';
import { type FieldList, allValues, firstValue, withoutField } from '../../http/fields.ts';
import { isPrivateHost } from '../../net/private_hosts.ts';
import { encodeUrl } from '../url_rewrite/algorithm.ts';
import type { Activation } from '../../policy/env/activation.ts';
import type { Compiling } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { compileHeaders } from '../header_templates.ts';
import type { PolicyRun } from '../policy_run.ts';
import { numbers } from './facts.ts';
import type { HttpRequestConfig } from './action_schema.ts';
import { counted } from '../../diagnostics/message_text.ts';

/** A request of the policy, ready to send. */
export interface Subrequest {
  readonly method: string;
  readonly url: string;
  readonly headers: FieldList;
  readonly body: string;
}

/** Maximum number of policies whose requests a request may pass through; more is treated as a loop. */
const HOP_LIMIT = 3;

/** Compiles the request that an action sends. */
export function compileSubrequest(
  config: HttpRequestConfig,
  compiling: Compiling,
): (policyRun: PolicyRun) => Subrequest | Failure {
  const url = compiling.template(config.url, '/url');
  const parameters = config.query_params.map(({ key, value }, index) => ({
    key: compiling.template(key, `/query_params/${index}/key`),
    value: compiling.template(value, `/query_params/${index}/value`),
  }));
  const headers = compileHeaders(compiling, config.headers);
  const body = compiling.template(config.body ?? '', '/body');
  const { branding } = compiling.context;
  return (policyRun) => {
    const { activation } = policyRun;
    const address = url.text(activation);
    if (address instanceof Failure) return address;
    const pairs: string[] = [];
    for (const { key, value } of parameters) {
      const name = key.text(activation);
      if (name instanceof Failure) return name;
      const text = value.text(activation);
      if (text instanceof Failure) return text;
      pairs.push(`${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(text.toWellFormed())}`);
    }
    const whole = readUrl(address.trim(), pairs, compiling);
    if (whole instanceof Failure) return whole;
    const fields = headers.fields(activation);
    if (fields instanceof Failure) return fields;
    const text = body.text(activation);
    if (text instanceof Failure) return text;
    const hops = hopsOf(activation, branding.service);
    if (hops >= HOP_LIMIT)
      return compiling.failure(
        numbers.loop.number,
        `the request has passed through ${counted(hops, 'policy', 'policies')}`,
      );
    return {
      method: config.method,
      url: whole,
      headers: [...withoutOwn(fields, branding.service), ...ownFields(policyRun, branding.service, hops + 1)],
      body: text,
    };
  };
}

const URL_FORM = /^(https?):\/\/([^/?#]+)([^#]*)/i;

/**
 * Reads the URL. Policies must not reach the machine and its network unless that is allowed, because the URL
 * may come from a request. Host names are checked by the driver, which resolves them.
 */
function readUrl(address: string, pairs: readonly string[], compiling: Compiling): string | Failure {
  const parts = URL_FORM.exec(encodeUrl(address));
  const authority = parts === null ? null : parseAuthority(parts[2]!);
  if (parts === null || authority === null) {
    return compiling.failure(FAILURES.action, `'${address}' is not an http or https URL`);
  }
  if (!compiling.context.allowPrivateFetch && isPrivateHost(authority.host)) {
    return compiling.failure(
      FAILURES.action,
      `'${authority.host}' is an address of this machine or its network`,
    );
  }
  const rest = parts[3]!.startsWith('/') ? parts[3]! : `/${parts[3]!}`;
  const base = `${parts[1]!.toLowerCase()}://${parts[2]!}${rest}`;
  if (pairs.length === 0) return base;
  return `${base}${rest.includes('?') ? '&' : '?'}${pairs.join('&')}`;
}

function hopsOf({ request }: Activation, service: string): number {
  const values = allValues(request.headers, `${service}-req-hops`);
  const hops = Number(values[0] ?? '0');
  return values.length <= 1 && Number.isSafeInteger(hops) && hops >= 0 ? hops : HOP_LIMIT;
}

const OWN = ['req-id', 'req-type', 'req-hops', 'report-abuse'];

function withoutOwn(fields: FieldList, service: string): FieldList {
  return OWN.reduce((left, name) => withoutField(left, `${service}-${name}`), fields);
}

/** Fields that identify the request as one of a policy. */
function ownFields({ activation, connection, world }: PolicyRun, service: string, hops: number): FieldList {
  const forwarded = firstValue(activation.request.headers, 'x-forwarded-for');
  const client = connection.client.text;
  return [
    'user-agent',
    `${service}/cloud`,
    'x-forwarded-for',
    forwarded === undefined ? client : `${forwarded}, ${client}`,
    `${service}-req-type`,
    'http-request',
    `${service}-req-id`,
    requestId(world.random(), world.random()),
    `${service}-req-hops`,
    String(hops),
  ];
}

/** An id from two random numbers. */
function requestId(one: number, other: number): string {
  return `rq_${digitsOf(one)}${digitsOf(other)}`;
}

function digitsOf(chance: number): string {
  return Math.floor(chance * 2 ** 52)
    .toString(36)
    .padStart(11, '0');
}
