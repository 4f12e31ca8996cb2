import { PROVIDER_WITHOUT_SECRET } from '../../modules/webhook_verification/providers.ts';
import type { SoundConfig } from './edge_shape.ts';
import { quoted } from './report.ts';
import type { Report } from './report.ts';
import { routesOf } from './routes_of.ts';

/** Checks that every webhook provider has its secret, and that the one without has none. */
export function checkWebhooks(config: SoundConfig, report: Report): void {
  for (const { pointer, thing: route } of routesOf(config)) {
    const webhook = route.webhook_verification;
    if (webhook?.provider === undefined) continue;
    const at = `${pointer}/webhook_verification`;
    const isWithout = webhook.provider.toLowerCase() === PROVIDER_WITHOUT_SECRET;
    // A secret that departed from its shape is there nevertheless.
    const hasSecret = 'secret' in webhook && webhook.secret !== '';
    if (isWithout && hasSecret) {
      const says = `${quoted(webhook.provider)} signs with a certificate and has no secret`;
      report('edge.webhook_secret', `${at}/secret`, says, { at: 'key' });
    } else if (!isWithout && !hasSecret) {
      const says = `${quoted(webhook.provider)} needs the secret that it signs with`;
      report('edge.webhook_secret', at, says, { at: 'key' });
    }
  }
}
