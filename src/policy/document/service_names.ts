import type { Report } from './findings.ts';
import { type PolicyText, ownText } from './policy_text.ts';

/** Codes and fields in which only the name of the service is free. */
const NAMED =
  /\bERR_(?<code>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)_\d{1,5}\b|(?<![\w-])(?<field>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)-(?:error-code|auth-user-(?:id|email|name)|mtls-(?:subject|email|serial)[\w-]*)(?![\w-])/gi;

/** Warns, once, that a policy was plainly written for a service of another name. */
export function checkServiceName(policy: PolicyText, service: string, report: Report): void {
  const own = ownText(policy);
  // Almost all policies name none.
  if (!/ERR_|-error-code|-auth-user-|-mtls-/i.test(own.text)) return;
  const found = [...own.text.matchAll(NAMED)].flatMap((match) => {
    const { code, field } = match.groups as { readonly code?: string; readonly field?: string };
    const name = (code?.replaceAll('_', '-') ?? field ?? '').toLowerCase();
    const start = own.start + match.index;
    return name === service || /^x(?:-|$)/.test(name)
      ? []
      : [{ name, span: { start, end: start + match[0].length } }];
  });
  const [first] = found;
  if (first === undefined || found.some(({ name }) => name !== first.name)) return;
  const { name, span } = first;
  const message = `this names the service '${name}', but here it is '${service}'`;
  report('policy.other_service_name', '', message, {
    span,
    hint: `give --service-name ${name}, or write service_name: ${name} in the edge file`,
    ...(found.length > 1 && { notes: [`the policy names it in ${found.length} places`] }),
  });
}
