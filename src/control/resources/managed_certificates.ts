import * as z from 'zod';
import type { Body, Field, ResourceObject } from './contract.ts';
import { derive, field } from './fields.ts';

/**
 * Certificates that the service requests and renews by itself, for reserved domains and agent ingresses. The state
 * is kept in the object as `management`, of which responses show a part.
 */

type KeyType = 'rsa' | 'ecdsa';

export interface CertificatePolicy {
  readonly authority: 'letsencrypt';
  readonly private_key_type: KeyType;
}

/** A certificate that is being requested, or whose request failed. */
interface ProvisioningJob {
  readonly error_code: string | null;
  readonly msg: string;
  readonly started_at: string;
  readonly retries_at: string | null;
}

export interface CertificateManagement {
  readonly renews_at: string | null;
  readonly provisioning_job: ProvisioningJob | null;
  /** The certificate of a domain that was issued last, unlike one that was uploaded. */
  readonly certificate_id?: string;
}

const at = z.string().nullable().describe('RFC 3339.');
const statusSchema = z
  .strictObject({
    renews_at: at.describe('When the next certificate is requested, RFC 3339.'),
    provisioning_job: z
      .strictObject({ error_code: z.string().nullable(), msg: z.string(), started_at: at, retries_at: at })
      .nullable()
      .describe('The request in progress, or the one that failed.'),
  })
  .nullable()
  .describe('State of the automatic certificate; null without a policy.');

/** `certificate_management_policy` and `certificate_management_status`. */
export function managedFields(standard: KeyType): {
  readonly certificate_management_policy: Field;
  readonly certificate_management_status: Field;
} {
  const policy = z
    .strictObject({
      authority: z.enum(['letsencrypt']).default('letsencrypt').describe('Name of the issuer.'),
      private_key_type: z.enum(['rsa', 'ecdsa']).default(standard).describe('Type of the private key.'),
    })
    .describe('How certificates are issued; the issuer is the local authority.');
  return {
    certificate_management_policy: field(policy, {
      read: 'or_null',
      emptyIsUnset: ['/authority', '/private_key_type'],
    }),
    certificate_management_status: derive(statusSchema, (_value, { body }) => {
      if (policyOf(body) === undefined) return null;
      const { renews_at: renewsAt, provisioning_job: job } = managementOf(body)!;
      return { renews_at: renewsAt, provisioning_job: job };
    }),
  };
}

export function policyOf(body: Body): CertificatePolicy | undefined {
  return body['certificate_management_policy'] as CertificatePolicy | undefined;
}

export function isSamePolicy(one: CertificatePolicy, other: CertificatePolicy | undefined): boolean {
  return one.authority === other?.authority && one.private_key_type === other.private_key_type;
}

export function managementOf(body: Body): CertificateManagement | undefined {
  return body['management'] as CertificateManagement | undefined;
}

/** Requests a certificate if the policy is new or has changed. */
export function withRequest(body: Body, before: Body | null, now: string): Body {
  const policy = policyOf(body);
  if (policy === undefined || (before !== null && isSamePolicy(policy, policyOf(before)))) return body;
  const job = { error_code: null, msg: 'The certificate is requested.', started_at: now, retries_at: null };
  return { ...body, management: { renews_at: null, ...managementOf(body), provisioning_job: job } };
}

/** When a certificate has to be requested, in ms since 1970; infinite without a policy. */
export function dueMs({ kind, body }: ResourceObject): number {
  const management = managementOf(body);
  if (policyOf(body) === undefined || management === undefined) return Infinity;
  const { provisioning_job: job, renews_at: renewsAt } = management;
  if (job !== null) return job.retries_at === null ? 0 : Date.parse(job.retries_at);
  // A domain whose certificate was detached gets another.
  if (kind === 'domain' && body['certificate_id'] === undefined) return 0;
  return renewsAt === null ? 0 : Date.parse(renewsAt);
}
