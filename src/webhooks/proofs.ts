/** Independent evidence for a row; each is a test, and the tests compare this table with theirs. */
export interface Proof {
  /**
   * `library`: the provider's own; `other library`: another one for the same scheme; `vector`: published by
   * the provider.
   */
  readonly kind: 'library' | 'other library' | 'vector';
  /** Package name, or where the vector was published. */
  readonly by: string;
}

const library = (by: string): Proof => ({ kind: 'library', by });
const other = (by: string): Proof => ({ kind: 'other library', by });
const vector = (by: string): Proof => ({ kind: 'vector', by });

/** Proofs by provider; providers without one are known by their documentation only. */
// table
export const PROOFS: Readonly<Record<string, readonly Proof[]>> = {
  bitbucket: [other('x-hub-signature')],
  brex: [other('standardwebhooks')],
  clerk: [other('svix'), other('@hookflo/tern')],
  contentful: [library('@contentful/node-apps-toolkit')],
  facebook_graph_api: [other('x-hub-signature')],
  facebook_messenger: [other('x-hub-signature')],
  github: [library('@octokit/webhooks'), vector('GitHub documentation, validating webhook deliveries')],
  gitlab: [other('@hookflo/tern')],
  graphcms: [library('@hygraph/utils')],
  hubspot: [library('@hubspot/api-client'), vector('HubSpot documentation, request validation')],
  instagram: [other('x-hub-signature')],
  intercom: [other('x-hub-signature')],
  jira: [other('x-hub-signature')],
  linear: [library('@linear/sdk')],
  modern_treasury: [library('modern-treasury')],
  mux: [library('@mux/mux-node'), vector('documentation of Mux’s Elixir library')],
  orb: [library('orb-billing')],
  paddle: [library('@paddle/paddle-node-sdk')],
  pagerduty: [vector('tests of PagerDuty’s Go library')],
  plivo: [library('plivo')],
  pusher: [library('pusher')],
  sendgrid: [library('@sendgrid/eventwebhook'), vector('tests of @sendgrid/eventwebhook')],
  sentry: [other('@hookflo/tern')],
  shopify: [library('@shopify/shopify-api')],
  slack: [library('@slack/bolt'), vector('Slack documentation, verifying requests')],
  sns: [library('sns-validator'), other('sns-payload-validator')],
  square: [library('square')],
  standard_webhooks: [library('standardwebhooks')],
  stripe: [library('stripe')],
  svix: [library('svix'), vector('Svix documentation, verifying manually')],
  twilio: [
    library('twilio'),
    vector('Twilio documentation, security'),
    vector('tests of Twilio’s libraries: a parameter that occurs three times'),
  ],
  whatsapp: [other('x-hub-signature')],
  worldline: [library('connect-sdk-nodejs')],
};
