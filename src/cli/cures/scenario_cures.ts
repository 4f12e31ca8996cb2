import type { ScenarioCode } from '../../simulator/document/codes.ts';

/** Cures of what scenario files can have beyond form. */
// table: examples and cures of codes
export const SCENARIO_CURES: Readonly<Record<ScenarioCode, readonly [example: string, cure: string]>> = {
  'scenario.no_edge': [
    'A file with `cases` only',
    'Add `edge: edge.yaml`, or `policy: policy.yml` for a policy alone',
  ],
  'scenario.unreadable': ['`edge: egde.yaml`', 'Correct the path; it is relative to the scenario file'],
  'scenario.no_request': [
    'A case with `name` and `expect` only',
    'Add `request: GET /`, a `timeline` or a `sample`',
  ],
  'scenario.several_requests': [
    'A case with `request` and `timeline`',
    'Make two cases of it, or put the request into the timeline',
  ],
  'scenario.no_expectation': [
    'A case with a request only',
    'Add `expect: { status: 200 }`, or `expect: snapshot`',
  ],
  'scenario.duplicate_name': ['Two cases named `login`', 'Rename one of them'],
  'scenario.empty_table': ['`each: []`', 'Add a row, or leave `each` out'],
  'scenario.bad_table': [
    '`each: rows.csv` with a quote that is not closed',
    'Correct the CSV file at the place of the finding',
  ],
  'scenario.bad_include': [
    '`include: [shared.yaml]` without such a file',
    'Correct the path; it is relative to the scenario file',
  ],
  'scenario.unknown_identity': [
    '`as: ann` without `identities`',
    'Add the user to `identities` at the top of the file',
  ],
  'scenario.bad_identity': [
    'An identity with `email: 5`',
    'Write the value in the form that the finding names',
  ],
  'scenario.unknown_backend': [
    '`upstreams: { ap: 200 }` where the edge has `app`',
    'Correct the name; the finding lists the backends',
  ],
  'scenario.unknown_agent': [
    'A step that closes the agent `b` where only `a` is defined',
    'Correct the name, or add the agent to `agents`',
  ],
  'scenario.bad_agent': ['An agent with labels and a URL', 'Keep one of them'],
  'scenario.refused_bind': [
    'An agent that binds a host of another edge',
    'Change the URL of the agent, or the hostports of the edge',
  ],
  'scenario.unknown_module': [
    '`decisions: { ip_restrictions: allow }`',
    'Correct the name; the finding lists the modules',
  ],
  'scenario.bad_request': ['`request: get /`', 'Write a method in upper case and a path or a URL: GET /'],
  'scenario.bad_time': ['`clock: yesterday`', 'Write a time as 2027-01-02T03:04:05Z'],
  'scenario.bad_arrivals': ['A simulation with a rate and a log', 'Keep one of them'],
  'scenario.bad_nodes': [
    'A cut of node 4 where `nodes` is 3',
    'Name nodes that exist; they are counted from 1',
  ],
  'scenario.bad_answer': [
    '`upstreams: { app: fail }`',
    'Write a status, `refuse`, `hang`, `reset`, or a map with status, headers and body',
  ],
  'scenario.bad_expectation': ['`expect: { status: ok }`', 'Write it in the form that the finding names'],
  'scenario.bad_share': ['`share: { app: 90% }`', 'Write a share as 0.9 or 9/10'],
  'scenario.bad_facts': [
    '`facts` with a country of three letters',
    'Write the value in the form that the finding names',
  ],
  'scenario.by_chance': [
    'A case that asks for one child of a weighted backend',
    'Use `sample` with shares, or fix the `seed`',
  ],
  'scenario.unused_upstream': [
    'A response for a backend that no case reaches',
    'Remove it, or add the case that was meant',
  ],
  'scenario.unselected_agent': [
    'An agent whose labels no backend asks for',
    'Correct its labels, or those of the backend',
  ],
  'scenario.change_after_end': [
    '`at: 5m` in a simulation of one minute',
    'Correct the time, or let the simulation last longer',
  ],
  'scenario.unknown_placeholder': [
    'A placeholder such as {status} that neither the row of the table nor `variables` has a value for',
    'Correct the name, or give each row the value',
  ],
  'scenario.unused_identity': [
    'A user that no case sends requests as',
    'Remove it, or add `as: NAME` to a request',
  ],
};
