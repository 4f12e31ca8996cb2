import type { WebhookRequest } from '../../src/webhooks/reading.ts';
import { FORM, requestOf } from './requests.ts';

/** A signed request that the provider itself has published, with its secret. */
export interface Vector {
  readonly provider: string;
  readonly scheme: string;
  /** Where it is published. */
  readonly source: string;
  readonly secret: string;
  readonly request: WebhookRequest;
  readonly nowMs: number;
}

const SENDGRID_EVENT =
  '[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address","sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA","sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0","smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n';

const PAGERDUTY_EVENT =
  '{"event":{"id":"01BWDWL3NYY7LUFPZCC28QUCMK","event_type":"incident.priority_updated","resource_type":"incident","occurred_at":"2021-04-26T17:36:27.458Z","agent":{"html_url":"https://acme.pagerduty.com/users/PLH1HKV","id":"PLH1HKV","self":"https://api.pagerduty.com/users/PLH1HKV","summary":"Tenex Engineer","type":"user_reference"},"client":null,"data":{"id":"PGR0VU2","type":"incident","self":"https://api.pagerduty.com/incidents/PGR0VU2","html_url":"https://acme.pagerduty.com/incidents/PGR0VU2","number":2,"status":"triggered","title":"A little bump in the road","service":{"html_url":"https://acme.pagerduty.com/services/PF9KMXH","id":"PF9KMXH","self":"https://api.pagerduty.com/services/PF9KMXH","summary":"API Service","type":"service_reference"},"assignees":[{"html_url":"https://acme.pagerduty.com/users/PTUXL6G","id":"PTUXL6G","self":"https://api.pagerduty.com/users/PTUXL6G","summary":"User 123","type":"user_reference"}],"escalation_policy":{"html_url":"https://acme.pagerduty.com/escalation_policies/PUS0KTE","id":"PUS0KTE","self":"https://api.pagerduty.com/escalation_policies/PUS0KTE","summary":"Default","type":"escalation_policy_reference"},"teams":[{"html_url":"https://acme.pagerduty.com/teams/PFCVPS0","id":"PFCVPS0","self":"https://api.pagerduty.com/teams/PFCVPS0","summary":"Engineering","type":"team_reference"}],"priority":{"html_url":"https://acme.pagerduty.com/account/incident_priorities","id":"PSO75BM","self":"https://api.pagerduty.com/priorities/PSO75BM","summary":"P1","type":"priority_reference"},"urgency":"high","conference_bridge":{"conference_number":1000,"conference_url":"https://example.com"},"resolve_reason":null}}}';

const SLACK_COMMAND =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';

const HUBSPOT_SECRET = 'yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy';
const HUBSPOT_URL = 'https://www.example.com/webhook_uri';

const TWILIO_FORM = {
  CallSid: 'CA1234567890ABCDE',
  Caller: '+14158675309',
  Digits: '1234',
  From: '+14158675309',
  To: '+18005551212',
};

export const VECTORS: readonly Vector[] = [
  {
    provider: 'github',
    scheme: 'body',
    source: 'GitHub documentation, validating webhook deliveries',
    secret: "It's a Secret to Everybody",
    request: requestOf({
      headers: {
        'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
      },
      body: 'Hello, World!',
    }),
    nowMs: 0,
  },
  {
    provider: 'slack',
    scheme: 'timed',
    source: 'Slack documentation, verifying requests',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    request: requestOf({
      headers: {
        'Content-Type': FORM,
        'X-Slack-Request-Timestamp': '1531420618',
        'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      },
      body: SLACK_COMMAND,
    }),
    nowMs: 1_531_420_618_000,
  },
  {
    provider: 'twilio',
    scheme: 'url and form',
    source: 'Twilio documentation, security',
    secret: '12345',
    request: requestOf({
      url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
      headers: { 'Content-Type': FORM, 'X-Twilio-Signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
      body: new URLSearchParams(TWILIO_FORM).toString(),
    }),
    nowMs: 0,
  },
  {
    provider: 'twilio',
    scheme: 'url and form',
    source: 'tests of Twilio’s libraries: a parameter that occurs three times',
    secret: '12345',
    request: requestOf({
      url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
      headers: { 'Content-Type': FORM, 'X-Twilio-Signature': 'IK+Dwps556ElfBT0I3Rgjkr1wJU=' },
      body: 'Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234',
    }),
    nowMs: 0,
  },
  {
    provider: 'svix',
    scheme: 'svix',
    source: 'Svix documentation, verifying manually',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    request: requestOf({
      headers: {
        'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'svix-timestamp': '1614265330',
        'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v2,unknown',
      },
      body: '{"test": 2432232314}',
    }),
    nowMs: 1_614_265_330_000,
  },
  {
    provider: 'sendgrid',
    scheme: 'timed',
    source: 'tests of @sendgrid/eventwebhook',
    secret:
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
    request: requestOf({
      headers: {
        'X-Twilio-Email-Event-Webhook-Signature':
          'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
        'X-Twilio-Email-Event-Webhook-Timestamp': '1600112502',
      },
      body: SENDGRID_EVENT,
    }),
    nowMs: 1_600_112_502_000,
  },
  {
    provider: 'pagerduty',
    scheme: 'body',
    source: 'tests of PagerDuty’s Go library',
    secret: 'lDQHScfUeXUKaQRNF+8XIiDKZ7XX3itBAYzwU0TARw8lJqRnkKl2iB1anSb0Z+IK',
    request: requestOf({
      headers: {
        'X-PagerDuty-Signature':
          'v1=0000000000000000000000000000000000000000000000000000000000000000,v1=0c0b9495b893a39e70d1fea2fe11fbe0a825f88b9f67846f6cc07dd2bc5476cd',
      },
      body: PAGERDUTY_EVENT,
    }),
    nowMs: 0,
  },
  {
    provider: 'mux',
    scheme: 'timed',
    source: 'documentation of Mux’s Elixir library',
    secret: 'SuperSecret123',
    request: requestOf({
      headers: {
        'Mux-Signature': 't=1591664030,v1=e43496b6aae982c4c2fd6f8e92935f1d90216f1f64d56024e72390acfb988272',
      },
      body: 'payload',
    }),
    nowMs: 1_591_664_030_000,
  },
  {
    provider: 'hubspot',
    scheme: 'v1',
    source: 'HubSpot documentation, request validation',
    secret: HUBSPOT_SECRET,
    request: requestOf({
      headers: {
        'X-HubSpot-Signature-Version': 'v1',
        'X-HubSpot-Signature': '232db2615f3d666fe21a8ec971ac7b5402d33b9a925784df3ca654d05f4817de',
      },
      body: '[{"eventId":1,"subscriptionId":12345,"portalId":62515,"occurredAt":1564113600000,"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123,"changeSource":"CRM","changeFlag":"NEW","appId":54321}]',
    }),
    nowMs: 0,
  },
  {
    provider: 'hubspot',
    scheme: 'v2',
    source: 'HubSpot documentation, request validation',
    secret: HUBSPOT_SECRET,
    request: requestOf({
      url: HUBSPOT_URL,
      headers: {
        'X-HubSpot-Signature-Version': 'v2',
        'X-HubSpot-Signature': '9569219f8ba981ffa6f6f16aa0f48637d35d728c7e4d93d0d52efaa512af7900',
      },
      body: '{"example_field":"example_value"}',
    }),
    nowMs: 0,
  },
  {
    provider: 'hubspot',
    scheme: 'v2',
    source: 'HubSpot documentation, request validation',
    secret: HUBSPOT_SECRET,
    request: requestOf({
      method: 'GET',
      url: HUBSPOT_URL,
      headers: {
        'X-HubSpot-Signature-Version': 'v2',
        'X-HubSpot-Signature': 'eee2dddcc73c94d699f5e395f4b9d454a069a6855fbfa152e91e88823087200e',
      },
    }),
    nowMs: 0,
  },
];
