/** What the overhead benchmark submits: n tasks that may run all at once, each of which changes one file. Pure. */

export const taskPath = (task: string): string => `src/${task}.txt`;
export const taskName = (nth: number): string => `t${String(nth).padStart(4, '0')}`;

/** Slots such that `tasks` get one each: a tenth is kept for urgent kinds (spec/slots.ts), and each part of a wave rounds down. */
export const slotsFor = (tasks: number): number => Math.ceil((tasks * 10) / 9) + 40;

/** @param url of a repository that holds `taskPath` of every task */
export function overheadSpec(url: string, tasks: number): Record<string, unknown> {
  return {
    name: 'overhead',
    goal: 'Every file says who has done it.',
    repository: { url, branch: 'main' },
    gate: { lint: 'skip', typecheck: 'skip', test: 'true', build: 'skip' },
    sandbox: { image: 'none' },
    roles: { worker: { engine: 'command' } },
    policy: { inFlight: slotsFor(tasks), gateProof: 'off' },
    fanOut: [
      {
        name: 'all',
        id: '{stem}',
        over: { files: ['src/*.txt'] },
        task: {
          goal: 'Say who has done {file}.',
          files: { allow: ['{file}'] },
          acceptance: ['{file} says who has done it.'],
          run: ['true'],
        },
      },
    ],
  };
}
