import { describe, expect, it } from '@jest/globals';
import { check, lines, problems, spec } from './fixture.ts';

const image = { image: 'example.org/own:1' };
const reviewer = (engine: string, sees: string): object => ({ engine, model: 'claude-opus-4-8', sees });

describe('a role that answers', () => {
  it('needs an engine that can; each reviewer is named', () => {
    const roles = {
      worker: { engine: 'codex', model: 'gpt-5' },
      planner: { engine: 'scripted' },
      reviewer: [reviewer('claude-code', 'diff'), reviewer('command', 'tree')],
    };
    expect(problems(spec({ roles, sandbox: image }))).toEqual([
      expect.stringMatching(/^roles\.planner\.engine: is "scripted", which edits files and answers nothing/),
      expect.stringMatching(/^roles\.reviewer\[1\]\.engine: is "command"/),
    ]);
  });
  it('of a transcript is warned of where the worker leaves none', () => {
    const roles = { worker: { engine: 'command' }, reviewer: reviewer('claude-code', 'transcript') };
    expect(lines(check(spec({ roles, sandbox: image })).warnings)).toEqual([
      expect.stringMatching(/^roles\.reviewer\.sees: "transcript" shows little/),
    ]);
  });
});

describe('reviewers', () => {
  it('are a list in the order of the spec; one alone is a list of one, and none is empty', () => {
    const compiled = (reviewers: unknown) =>
      check(spec({ roles: { worker: { engine: 'command' }, reviewer: reviewers }, sandbox: image })).spec;
    const [first, second] = [reviewer('claude-code', 'diff'), reviewer('codex', 'tree')];
    expect(compiled([first, second])).toMatchObject({ reviewers: [first, second], roles: { reviewer: { engine: 'claude-code' } } }); // prettier-ignore
    expect(compiled(second)?.reviewers).toEqual([second]);
    expect(compiled(null)?.reviewers).toEqual([]);
    expect(compiled(null)?.policy.reviews).toBe('any-blocking');
  });
});
