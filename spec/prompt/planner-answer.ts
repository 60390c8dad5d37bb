/** How a planner is told to answer. */
import { answerPage } from '../plan/answer.ts';

/** Judged by the tests as every answer is: an example that would be sent back would teach the wrong thing. */
export const EXAMPLE = {
  decisions: [
    { id: 'money-cents', subject: 'format of money', text: 'Amounts are whole cents.', interfaces: ['Money'] },
  ],
  scopes: [{ id: 'reports', goal: 'Monthly reports can be printed.', files: ['src/reports/**', 'test/reports/**'] }],
  tasks: [
    {
      id: 'ledger-parse',
      goal: 'Write `parse` in src/ledger/parse.ts: one entry a line, amounts as swarm:decision money-cents says.',
      interface: '`parse(text: string): Entry[]`; throws `ParseError` with `line`',
      files: { allow: ['src/ledger/parse.ts', 'test/ledger/parse.test.ts'], reference: ['src/ledger/types.ts'] },
      acceptance: ['`parse("1;coffee;350")` returns one entry of 350 cents.', 'A line without an amount throws.'],
    },
    {
      id: 'ledger-sum',
      goal: 'Write `sum` in src/ledger/sum.ts, over what `parse` returns.',
      files: { allow: ['src/ledger/sum.ts', 'test/ledger/sum.test.ts'], reference: ['src/ledger/parse.ts'] },
      acceptance: ['`sum(parse(text))` of a ledger of two entries equals their total in cents.'],
      dependsOn: ['ledger-parse'],
    },
  ],
  integration: [{ of: 'ledger-parse', by: 'ledger-sum', test: 'test/ledger/sum.test.ts' }],
};

export const ANSWER = `End with one JSON object in a block fenced by \`\`\`json. Its fields (lists may be left out when empty; unknown fields are refused):

${answerPage()}

For example:

\`\`\`json
${JSON.stringify(EXAMPLE, null, 1)}
\`\`\``;
