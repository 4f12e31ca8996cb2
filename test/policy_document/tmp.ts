import {readPolicyText, wholeFile} from '../../src/policy/document/read.ts';
for (const text of ["on_http_request:\n- expressions:\n  - !hasReqCookie('lane') && x < 0.1\n  - !(a || b) && !c\n  - !x[0] == 'u'\n  actions: [{type: deny}]\n", "a: [!x, !!y]\nb: !!z"]) {
const r = readPolicyText(text, wholeFile({name:'x',text}));
console.log(JSON.stringify(r.policy.value), r.policy.bangs, r.problems.map(p=>[p.code,p.says]), r.policy.spanOf('/on_http_request/0/expressions/1'));
}
