import type { EdgeConfig } from './schema.ts';

/**
 * A checked configuration that can be checked again: what was read from files is there as text, too, and only one of
 * both is allowed.
 */
export function withoutFiles(config: EdgeConfig): EdgeConfig {
  return {
    ...config,
    certificate_authorities: each(config.certificate_authorities, ['ca']),
    tls_certificates: each(config.tls_certificates, ['certificate', 'private_key']),
  };
}

function each<Member extends object>(
  members: Readonly<Record<string, Member>>,
  parts: readonly string[],
): Record<string, Member> {
  const kept = Object.entries(members).map(([name, member]) => {
    const own = Object.entries(member).filter(
      ([key]) => !parts.some((part) => key === `${part}_file` && `${part}_pem` in member),
    );
    return [name, Object.fromEntries(own) as Member] as const;
  });
  return Object.fromEntries(kept);
}
